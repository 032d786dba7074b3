import Foundation
import Testing

@testable import CisternCore

/// The hash of a key, which selects its shard, its slot, and its entry in the ghost table.
struct KeyHashTests {
  private let keyHash = KeyHash()

  @Test(arguments: [
    ("é", "e\u{301}"), ("K", "\u{212A}"), (";", "\u{37E}"),
    ("한글 und mehr", "\u{1112}\u{1161}\u{11AB}\u{1100}\u{1173}\u{11AF} und mehr"),
  ])
  func `equal strings have equal hashes, regardless of Unicode normalization`(left: String, right: String) {
    #expect(left == right)
    #expect(keyHash.of(left) == keyHash.of(right))
    #expect(keyHash.of(left + "!") != keyHash.of(right))
  }

  @Test func `the hash of a string does not depend on its storage`() {
    let text = "https://example.com/users/42"
    let bridged = NSString(string: text) as String
    let part = String((">" + text + "<").dropFirst().dropLast())
    #expect(keyHash.of(text) == keyHash.of(bridged))
    #expect(keyHash.of(text) == keyHash.of(part))
  }

  @Test func `each bit and the length of a byte array affect its hash`() {
    for count in 0...70 {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37) }
      let hash = keyHash.of(bytes)
      #expect(keyHash.of(Array(bytes)) == hash)
      #expect(keyHash.of(bytes + [0]) != hash)
      for bit in 0..<count * 8 {
        var changed = bytes
        changed[bit / 8] ^= 1 << (bit % 8)
        #expect(keyHash.of(changed) != hash, "\(count) bytes, bit \(bit)")
      }
    }
  }

  @Test func `keys of other types have the standard library's hash`() {
    let key = UUID()
    #expect(keyHash.of(key) == UInt64(truncatingIfNeeded: key.hashValue))
    #expect(keyHash.of(UInt8(7)) == UInt64(truncatingIfNeeded: UInt8(7).hashValue))
  }

  /// Callers often use regular keys. Of 2¹⁶ hashes, each range of bits that selects a shard, slot or tag is as even
  /// as random numbers.
  @Test(arguments: ["1", "8", "1024", "2^32", "2^48", "key-1", "path"])
  func `hashes of regular keys are distributed evenly`(kind: String) {
    let count = 1 << 16
    let hashes = (0..<count).map { number in
      switch kind {
      case "1": keyHash.of(number)
      case "8": keyHash.of(number * 8)
      case "1024": keyHash.of(number * 1024)
      case "2^32": keyHash.of(UInt64(number) << 32)
      case "2^48": keyHash.of(UInt64(number) << 48)
      case "key-1": keyHash.of("key-\(number)")
      default: keyHash.of("https://example.com/a/long/path/to/things/\(number)/thing.json")
      }
    }
    // The highest bits select the shard, the lowest bits the slot, and bits in between the slot's tag.
    for shift in [0, 7, 16, 25, 32, 40, 48, 56] {
      var counts = [Int](repeating: 0, count: 256)
      for hash in hashes { counts[Int(hash >> UInt64(shift) & 255)] += 1 }
      let chiSquare = counts.reduce(0.0) { $0 + Double(($1 - 256) * ($1 - 256)) / 256 }
      // The expected value is 255, with a standard deviation of 23. A lower value is more even than chance, which is
      // harmless.
      #expect(chiSquare < 255 + 8 * 23, "\(kind), bits from \(shift): \(chiSquare)")
    }
    // By chance, half a pair of hashes is expected to have equal low halves.
    let distinct = Set(hashes.map { UInt32(truncatingIfNeeded: $0) }).count
    #expect(distinct > count - 12, "\(kind): \(count - distinct) meet")
    #expect(Set(hashes).count == count)
  }
}
