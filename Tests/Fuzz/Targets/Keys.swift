import Foundation

import Cistern

private struct Wrapped: RawRepresentable, CacheKey {
  let rawValue: Int32
}

/// Feeds bytes to the keys of one type, which the first byte selects. The bytes may be no valid key.
func fuzzKeys(_ input: [UInt8]) {
  let bytes = Array(input.dropFirst())
  switch (input.first ?? 0) % 17 {
  case 0: fuzzKey(String.self, bytes)
  case 1: fuzzKey([UInt8].self, bytes, isWhole: true)
  case 2: fuzzKey(Data.self, bytes, isWhole: true)
  case 3: fuzzKey(UUID.self, bytes, isWhole: true)
  case 4: fuzzKey(Int8.self, bytes, isWhole: true)
  case 5: fuzzKey(Int16.self, bytes, isWhole: true)
  case 6: fuzzKey(Int32.self, bytes, isWhole: true)
  case 7: fuzzKey(Int64.self, bytes, isWhole: true)
  case 8: fuzzKey(Int128.self, bytes, isWhole: true)
  case 9: fuzzKey(UInt8.self, bytes, isWhole: true)
  case 10: fuzzKey(UInt16.self, bytes, isWhole: true)
  case 11: fuzzKey(UInt32.self, bytes, isWhole: true)
  case 12: fuzzKey(UInt64.self, bytes, isWhole: true)
  case 13: fuzzKey(UInt128.self, bytes, isWhole: true)
  case 14: fuzzKey(Int.self, bytes, isWhole: true)
  case 15: fuzzKey(UInt.self, bytes, isWhole: true)
  default: fuzzKey(Wrapped.self, bytes, isWhole: true)
  }
}

/// - Parameters:
///   - type: The type of the key.
///   - bytes: The input.
///   - isWhole: Whether a key's bytes equal those that it was read from. Strings are normalized.
private func fuzzKey<Key: CacheKey>(_ type: Key.Type, _ bytes: [UInt8], isWhole: Bool = false) {
  guard let key = Key(keyBytes: bytes.rawSpan) else { return }
  let written = key.keyBytes
  guard let read = Key(keyBytes: written.rawSpan) else { fatalError("broken: \(type) does not read what it wrote") }
  require(read == key && read.hashValue == key.hashValue, "\(type) reads another key than it wrote")
  require(read.keyBytes == written, "\(type): equal keys have different bytes")
  require(!isWhole || written == bytes, "\(type) writes other bytes than it read")
  require(key.hasKeyBytesPrefix(Array(written.prefix(bytes.count / 2))), "\(type): no prefix of itself")
  require(!key.hasKeyBytesPrefix(written + [0]), "\(type): something longer is a prefix")
}

/// Feeds pairs of keys: only equal keys have equal bytes, and integers are in the order of their bytes.
func fuzzKeyOrder(_ input: [UInt8]) {
  var source = ByteSource(input)
  switch source.byte() % 10 {
  case 0: compare(source.number(Int8.self), source.number(Int8.self))
  case 1: compare(source.number(Int16.self), source.number(Int16.self))
  case 2: compare(source.number(Int32.self), source.number(Int32.self))
  case 3: compare(source.number(Int64.self), source.number(Int64.self))
  case 4: compare(source.number(Int128.self), source.number(Int128.self))
  case 5: compare(source.number(UInt32.self), source.number(UInt32.self))
  case 6: compare(source.number(UInt64.self), source.number(UInt64.self))
  case 7: compare(source.number(Int.self), source.number(Int.self))
  case 8: compare(source.number(UInt128.self), source.number(UInt128.self))
  default:
    let one = source.text()
    compareEquality(one, String(decoding: source.remainder(), as: UTF8.self))
    // Composed and decomposed forms of a text are equal.
    compareEquality(one, one.decomposedStringWithCanonicalMapping)
    compareEquality(one, one.precomposedStringWithCanonicalMapping)
  }
}

private func compare<Key: CacheKey & Comparable>(_ one: Key, _ other: Key) {
  compareEquality(one, other)
  require(
    (one < other) == one.keyBytes.lexicographicallyPrecedes(other.keyBytes), "\(one) and \(other) in another order")
}

private func compareEquality<Key: CacheKey>(_ one: Key, _ other: Key) {
  require(
    (one == other) == (one.keyBytes == other.keyBytes), "\(one) and \(other): equal, or with equal bytes, not both")
}

extension CacheKey {
  fileprivate var keyBytes: [UInt8] { withKeyBytes { $0.copiedBytes() } }
}
