public import Synchronization

/// The yardstick of memory: a dictionary behind a lock. Public, so that it is specialised where it is used, as the cache is.
public final class BareDictionary<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  @usableFromInline let contents: Mutex<[Key: Value]>

  /// Creates an empty one.
  public init() {
    contents = Mutex([:])
  }

  /// The value of a key.
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
