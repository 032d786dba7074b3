/// Writes that are made together: see ``Cache/batch(context:_:)``. The last write of a key is the one that counts. In a
/// cache that merges, values that are set one after the other are merged, one after the other.
public struct Batch<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  @usableFromInline typealias Write = KeyWrite<Value>

  @usableFromInline private(set) var writes: [Key: Write] = [:]
  /// In the order of their first writes.
  @usableFromInline private(set) var keys: [Key] = []
  @usableFromInline let layering: WriteLayering

  @inlinable
  init(layering: WriteLayering) {
    self.layering = layering
  }

  /// Whether nothing was written yet.
  @inlinable
  public var isEmpty: Bool { writes.isEmpty }

  /// The number of keys that were written.
  @inlinable
  public var count: Int { writes.count }

  /// Will store a value, as ``Cache/setValue(_:forKey:expiry:tags:context:)`` does.
  @inlinable
  public mutating func setValue(_ value: Value, forKey key: Key, expiry: Expiry? = nil, tags: [String]? = nil) {
    write(.store(value, Storing(expiry: expiry, tags: tags)), to: key)
  }

  /// Will remove a key, as ``Cache/removeValue(forKey:context:)`` does. A value that is set after it replaces the cached one, also
  /// in a cache that merges.
  @inlinable
  public mutating func removeValue(forKey key: Key) {
    write(.remove, to: key)
  }

  /// Answers the write of the key that this one replaces.
  @inlinable
  @discardableResult
  mutating func write(_ write: Write, to key: Key) -> Write? {
    // One look-up, if the key is new.
    guard let former = writes.updateValue(write, forKey: key) else {
      keys.append(key)
      return nil
    }
    writes[key] = write.following(former, layering)
    return former
  }
}
