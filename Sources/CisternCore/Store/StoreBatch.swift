/// A group of writes in several caches of a store that apply together; see ``Store/batch(context:_:)``.
///
/// The rules of ``Batch`` apply in each cache. A write that is added after the end of the closure has no effect.
public final class StoreBatch: Sendable {
  private let parts = PartsByCache<any StoreBatchMember>()

  init() {}

  /// The writes of each cache, in the order of their first writes.
  var members: [any StoreBatchMember] { parts.all }

  /// Whether the batch contains no write.
  public var isEmpty: Bool { members.isEmpty }

  /// The number of keys with a write, over all caches.
  public var count: Int { members.reduce(0) { $0 + $1.count } }

  /// Adds a write that stores a value, like ``Cache/setValue(_:forKey:expiry:tags:context:)``.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - key: The key.
  ///   - cache: A cache of the store.
  ///   - expiry: The lifetime of the value, or nil for that of the cache.
  ///   - tags: The tags of the value, or nil if the write names no tags.
  public func setValue<Key, Value>(
    _ value: Value, forKey key: Key, in cache: Cache<Key, Value>, expiry: Expiry? = nil, tags: [String]? = nil
  ) {
    writes(of: cache).add(.store(value, WriteOptions(expiry: expiry, tags: tags)), to: key)
  }

  /// Adds a write that removes a key, like ``Cache/removeValue(forKey:context:)``.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - cache: A cache of the store.
  public func removeValue<Key, Value>(forKey key: Key, in cache: Cache<Key, Value>) {
    writes(of: cache).add(.remove, to: key)
  }

  private func writes<Key, Value>(of cache: Cache<Key, Value>) -> StoreBatchWrites<Key, Value> {
    parts.part(of: cache, erasedBy: { $0 }) { StoreBatchWrites(cache) }
  }
}
