public import Synchronization

/// The reference of memory: a dictionary behind a lock. Public, so that the compiler specializes it at its use, as it
/// does the cache.
public final class BareDictionary<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  @usableFromInline let contents: Mutex<[Key: Value]>

  /// Creates an empty dictionary.
  public init() {
    contents = Mutex([:])
  }

  /// Returns the value of a key.
  @inlinable
  public func value(forKey key: Key) -> Value? {
    contents.withLock { $0[key] }
  }

  /// Stores a value.
  @inlinable
  public func setValue(_ value: Value, forKey key: Key) {
    contents.withLock { $0[key] = value }
  }

  /// Removes a key.
  @inlinable
  public func removeValue(forKey key: Key) {
    contents.withLock { _ = $0.removeValue(forKey: key) }
  }
}
