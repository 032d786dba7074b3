/// Writes that are made together: see ``Cache/batch(context:_:)``. The last write of a key is the one that counts.
public struct Batch<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  /// What becomes of a key.
  @usableFromInline
  enum Write: Sendable {
    case store(Value, Storing)
    case remove
  }

  @usableFromInline private(set) var writes: [Key: Write] = [:]
  /// In the order of their first writes.
  @usableFromInline private(set) var keys: [Key] = []

  @inlinable
  init() {}

  /// Whether nothing was written yet.
  @inlinable
  public var isEmpty: Bool { writes.isEmpty }

  /// The number of keys that were written.
  @inlinable
  public var count: Int { writes.count }

  /// Will store a value, as ``Cache/setValue(_:forKey:expiry:tags:context:)`` does.
  @inlinable
  public mutating func setValue(_ value: Value, forKey key: Key, expiry: Expiry? = nil, tags: [String] = []) {
    write(.store(value, Storing(expiry: expiry, tags: tags)), to: key)
  }

  /// Will remove a key, as ``Cache/removeValue(forKey:context:)`` does.
  @inlinable
  public mutating func removeValue(forKey key: Key) {
    write(.remove, to: key)
  }

  /// Answers the write of the key that this one replaces.
  @inlinable
  @discardableResult
  mutating func write(_ write: Write, to key: Key) -> Write? {
    let former = writes.updateValue(write, forKey: key)
    if former == nil { keys.append(key) }
    return former
  }
}
