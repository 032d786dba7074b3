import Cistern
import Locking

/// Where an exercise keeps its cache, which is another after each reopening.
final class Room<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private let content = Guarded<Cache<Key, Value>?>(nil)

  /// The cache. There is one as long as anybody performs.
  var cache: Cache<Key, Value> {
    guard let cache = content.withLock({ $0 }) else { preconditionFailure("an exercise is opened before it performs") }
    return cache
  }

  func move(to cache: Cache<Key, Value>) {
    content.withLock { $0 = cache }
  }
}
