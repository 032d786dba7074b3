import Cistern
import CisternTesting

/// The operations of a writer. They depend only on the seed, so that a checker can compute the possible content of
/// the store.
struct Script: Sendable {
  static let keyCount = 150
  static let batchSize = 8
  /// The maximum number of operations between two flushes.
  static let mostUnflushed = 100

  enum Step {
    case set(Int)
    case remove(Int)
    /// Gives the record of the key, if there is one, another time of creation.
    case renew(Int)
    /// All of these keys in one batch.
    case batch([Int])
  }

  let seed: UInt64

  func step(_ number: Int) -> Step {
    var state = Mixer(state: seed &* 0x9e37_79b9 &+ UInt64(number))
    let key = Int(state.next() % UInt64(Self.keyCount))
    switch state.next() % 10 {
    case 0, 1: return .remove(key)
    // Batches use few groups of keys, so that they replace each other.
    case 2: return .batch((0..<Self.batchSize).map { (key / Self.batchSize * Self.batchSize + $0) % Self.keyCount })
    case 3, 4: return .renew(key)
    default: return .set(key)
    }
  }

  static func key(_ number: Int) -> [UInt8] { Array("key-\(number)".utf8) }

  /// Returns the value that operation `number` writes to a key. It contains the key and the number, and all of its
  /// bytes can be computed.
  func value(of key: Int, number: Int) -> [UInt8] {
    var state = Mixer(state: seed ^ UInt64(number) << 20 ^ UInt64(key))
    let size = state.next() % 5 == 0 ? 2_000 + Int(state.next() % 12_000) : Int(state.next() % 900)
    var bytes = Array("\(key):\(number):".utf8)
    bytes.reserveCapacity(bytes.count + size)
    for _ in 0..<size / 8 {
      let word = state.next()
      for shift in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(shift * 8))) }
    }
    return bytes
  }

  /// Returns the operation that wrote these bytes to this key, or nil if no operation did.
  func author(of bytes: [UInt8], key: Int) -> Int? {
    let parts = bytes.prefix(40).split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, Int(String(decoding: parts[0], as: UTF8.self)) == key,
      let number = Int(String(decoding: parts[1], as: UTF8.self)), number > 0, value(of: key, number: number) == bytes
    else { return nil }
    switch step(number) {
    case .set(key): return number
    case .batch(let keys) where keys.contains(key): return number
    default: return nil
    }
  }

  func record(_ key: Int, _ number: Int) -> StagedWrite {
    Self.record(key, number, bytes: value(of: key, number: number))
  }

  /// Returns the write of a record that operation `number` creates or renews.
  static func record(_ key: Int, _ number: Int, bytes: [UInt8]) -> StagedWrite {
    .record(
      key: Self.key(key), RecordMetadata(created: WallTime(nanosecondsSince1970: Int64(number)), cost: 1), bytes: bytes)
  }

  /// Returns whether operation `number` can have given its time to a record that operation `author` wrote.
  func isTime(_ number: Int, ofRecordBy author: Int, key: Int) -> Bool {
    if number == author { return true }
    guard number > author, case .renew(key) = step(number) else { return false }
    return true
  }
}

/// The random numbers of a trial, drawn from its seed.
struct Mixer {
  private var generator: SeededGenerator

  init(state: UInt64) {
    generator = SeededGenerator(seed: state)
  }

  mutating func next() -> UInt64 { generator.next() }

  /// Returns a number below `bound`, or 0 if the bound is not positive.
  mutating func next(below bound: Int) -> Int { Int(next() % UInt64(max(1, bound))) }
}
