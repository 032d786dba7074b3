import Cistern
import Locking

/// The holder of an exercise's cache. Each reopening of the store replaces the cache.
final class Room<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private let content = Guarded<Cache<Key, Value>?>(nil)

  /// The current cache. The exercise must have been opened.
  var cache: Cache<Key, Value> {
    guard let cache = content.withLock({ $0 }) else { preconditionFailure("the exercise was not opened") }
    return cache
  }

  func move(to cache: Cache<Key, Value>) {
    content.withLock { $0 = cache }
  }
}
