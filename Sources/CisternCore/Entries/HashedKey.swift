/// A key with its hash, which is computed once for an operation.
@usableFromInline
struct HashedKey<Key: Hashable & Sendable>: Sendable {
  @usableFromInline let key: Key
  @usableFromInline let hash: UInt64

  @inlinable
  init(_ key: Key, hash: UInt64) {
    self.key = key
    self.hash = hash
  }

  /// The part of the hash that a slot keeps.
  @inlinable
  var fingerprint: UInt32 { UInt32(truncatingIfNeeded: hash) }
}

extension HashedKey: Hashable {
  /// Returns whether the keys are one. Different hashes tell them apart without a comparison of the keys.
  @inlinable
  static func == (left: HashedKey, right: HashedKey) -> Bool {
    guard left.hash == right.hash else { return false }
    // A key that does not equal itself, such as NaN, has its hash alone. Otherwise, nothing would find it again.
    return left.key == right.key || left.key != left.key
  }

  @inlinable
  func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}

extension EntryTable {
  /// Returns the key with its hash in this table.
  @inlinable
  func hashed(_ key: Key) -> HashedKey<Key> { HashedKey(key, hash: hash(key)) }
}
