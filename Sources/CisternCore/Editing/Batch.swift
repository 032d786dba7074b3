/// A group of writes that apply together; see ``Cache/batch(context:_:)``.
///
/// The last write of a key counts. In a cache that merges, several values of a key are merged in the order of their
/// writes.
public struct Batch<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  @usableFromInline typealias Write = KeyWrite<Value>

  @usableFromInline private(set) var writes: [Key: Write] = [:]
  /// The keys in the order of their first writes.
  @usableFromInline private(set) var keys: [Key] = []
  @usableFromInline let layering: WriteLayering

  @inlinable
  init(layering: WriteLayering) {
    self.layering = layering
  }

  /// Whether the batch contains no write.
  @inlinable
  public var isEmpty: Bool { writes.isEmpty }

  /// The number of keys with a write.
  @inlinable
  public var count: Int { writes.count }

  /// Adds a write that stores a value, like ``Cache/setValue(_:forKey:expiry:tags:context:)``.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - key: The key.
  ///   - expiry: The lifetime of the value, or nil for that of the cache.
  ///   - tags: The tags of the value, or nil if the write names no tags.
  @inlinable
  public mutating func setValue(_ value: Value, forKey key: Key, expiry: Expiry? = nil, tags: [String]? = nil) {
    write(.store(value, WriteOptions(expiry: expiry, tags: tags)), to: key)
  }

  /// Adds a write that removes a key, like ``Cache/removeValue(forKey:context:)``.
  ///
  /// A value that is set after the removal replaces the cached one, even in a cache that merges.
  ///
  /// - Parameter key: The key.
  @inlinable
  public mutating func removeValue(forKey key: Key) {
    write(.remove, to: key)
  }

  /// Adds a write.
  ///
  /// - Returns: The replaced write of the key, which the caller may have to release outside a lock. Nil for the first
  ///   write of the key, and for one that extends the earlier write.
  @inlinable
  @discardableResult
  mutating func write(_ write: Write, to key: Key) -> Write? {
    // A new key needs only one lookup.
    guard var former = writes.updateValue(write, forKey: key) else {
      keys.append(key)
      return nil
    }
    if former.extend(by: write) {
      writes[key] = former
      return nil
    }
    writes[key] = write.following(former, layering)
    return former
  }
}
