import Locking

/// A factory for the subscriptions of a sequence's iterators. The sequence creates the first subscription itself.
final class EventSource<Key: Hashable & Sendable>: Sendable {
  private let limit: Int
  /// Weak, because a sequence does not keep its cache alive.
  private weak let registry: EventRegistry<Key>?
  /// The first subscription; nil after an iterator took it.
  private let first: Guarded<EventSubscription?>

  init(_ registry: EventRegistry<Key>, keeping limit: Int) {
    self.limit = limit
    self.registry = registry
    first = Guarded(registry.subscribe(keeping: limit))
  }

  func takeSubscription() -> EventSubscription? {
    first.withLock({ $0.take() }) ?? registry?.subscribe(keeping: limit)
  }
}
