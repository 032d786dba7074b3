import CisternCore
import CisternTesting
import CisternTestSupport
import Foundation
import Testing

@Suite struct CacheKeyTests {
  @Test func `strings, byte arrays, data and UUIDs are equal to their decoded key bytes`() {
    for string in ["", "a", "user/1", String(repeating: "long ", count: 1_000), "\u{0}", "日本語", "é", "👩‍👩‍👧"] {
      expectRoundTrip(string)
      expectRoundTrip(Array(string.utf8))
      expectRoundTrip(Data(string.utf8))
    }
    expectRoundTrip([0xFF, 0x00, 0xC0] as [UInt8])
    expectRoundTrip(UUID())
    expectRoundTrip(UUID(uuidString: "00000000-0000-0000-0000-000000000000")!)
  }

  @Test func `URLs are equal to their decoded key bytes, and a base is a part of the key`() throws {
    let base = try #require(URL(string: "https://example.org/a/?q=1"))
    let urls = [
      base, try #require(URL(string: "b", relativeTo: base)), try #require(URL(string: "https://example.org/a/b")),
      try #require(URL(string: "c", relativeTo: URL(string: "b/", relativeTo: base))),
      URL(filePath: "/tmp/x y"), try #require(URL(string: "https://example.org/é")),
    ]
    for url in urls { expectRoundTrip(url) }
    #expect(Set(urls.map { bytes(of: $0) }).count == Set(urls).count)
    #expect(URL(keyBytes: [0xFF]) == nil)
  }

  @Test func `bytes that no key encodes to do not decode to a key`() {
    #expect(String(keyBytes: [0xFF, 0xFE]) == nil)
    #expect(String(keyBytes: [0xC0, 0x80]) == nil)
    #expect(Int(keyBytes: [1, 2, 3]) == nil)
    #expect(UInt8(keyBytes: []) == nil)
    #expect(UUID(keyBytes: [1, 2, 3]) == nil)
  }

  @Test func `equal strings have equal key bytes, regardless of Unicode normalization`() {
    let written = ["caf\u{E9}", "cafe\u{301}"]
    #expect(written[0] == written[1])
    #expect(bytes(of: written[0]) == bytes(of: written[1]))
    #expect(bytes(of: "cafe") != bytes(of: "café"))
    #expect(bytes(of: "\u{212B}") == bytes(of: "\u{C5}"))
    #expect(bytes(of: "\u{1E0B}\u{323}") == bytes(of: "\u{1E0D}\u{307}"))
    #expect(bytes(of: "\u{1112}\u{1161}\u{11AB}") == bytes(of: "\u{D55C}"))
  }

  @Test func `strings of random scalars are equal exactly if their key bytes are equal`() {
    let scalars: [Unicode.Scalar] = [
      "a", "e", "\u{301}", "\u{323}", "\u{307}", "\u{E9}", "\u{1E0D}", "\u{212B}", "\u{AC00}",
    ]
    for seed in SeededSchedule.seeds(300) {
      var generator = SeededGenerator(seed: seed)
      let strings = (0..<12).map { _ in
        var string = ""
        for _ in 0..<generator.next(below: 4) { string.unicodeScalars.append(scalars[generator.next(below: 9)]) }
        return string
      }
      for left in strings {
        for right in strings { #expect((left == right) == (bytes(of: left) == bytes(of: right)), "seed \(seed)") }
      }
    }
  }

  @Test func `integers of every width decode from their key bytes, which sort numerically`() {
    expectNumericOrder([Int8.min, -1, 0, 1, .max])
    expectNumericOrder([Int16.min, -256, -1, 0, 1, 255, 256, .max])
    expectNumericOrder([Int32.min, -65_536, -1, 0, 1, 65_536, .max])
    expectNumericOrder([Int64.min, -1 << 32, -1, 0, 1, 1 << 32, .max])
    expectNumericOrder([Int128.min, -1 << 64, -1, 0, 1, 1 << 64, .max])
    expectNumericOrder([UInt8.min, 1, 127, 128, .max])
    expectNumericOrder([UInt16.min, 1, 255, 256, .max])
    expectNumericOrder([UInt32.min, 1, 65_535, 65_536, .max])
    expectNumericOrder([UInt64.min, 1, 1 << 32, .max])
    expectNumericOrder([UInt128.min, 1, 1 << 64, .max])
    expectNumericOrder([Int.min, -1, 0, 1, .max])
    expectNumericOrder([UInt.min, 1, .max])
    #expect(bytes(of: 1).count == 8)
  }

  @Test func `the key bytes of a data slice contain only the slice`() {
    let slice = Data([1, 2, 3, 4])[1...2]
    #expect(bytes(of: slice) == [2, 3])
  }

  @Test func `a type with a raw value becomes a key by declaring conformance`() {
    expectRoundTrip(Identifier(rawValue: 7))
    expectRoundTrip(Kind.first)
    #expect(bytes(of: Identifier(rawValue: 7)) == bytes(of: UInt64(7)))
    #expect(Kind(keyBytes: Array("third".utf8)) == nil)
  }

  private struct Identifier: RawRepresentable, CacheKey {
    let rawValue: UInt64
  }

  private enum Kind: String, CacheKey {
    case first, second
  }

  private func bytes(of key: some CacheKey) -> [UInt8] {
    key.withKeyBytes { bytes in
      var copy: [UInt8] = []
      for index in 0..<bytes.byteCount { copy.append(unsafe bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self)) }
      return copy
    }
  }

  private func expectRoundTrip<Key: CacheKey>(_ key: Key) {
    #expect(Key(keyBytes: bytes(of: key)) == key)
  }

  private func expectNumericOrder<Key: CacheKey & Comparable>(_ keys: [Key]) {
    for key in keys { expectRoundTrip(key) }
    for (lower, higher) in zip(keys, keys.dropFirst()) {
      #expect(bytes(of: lower).lexicographicallyPrecedes(bytes(of: higher)), "\(lower) < \(higher)")
    }
  }
}

extension CacheKey {
  fileprivate init?(keyBytes: [UInt8]) {
    self.init(keyBytes: unsafe keyBytes.span.bytes)
  }
}
