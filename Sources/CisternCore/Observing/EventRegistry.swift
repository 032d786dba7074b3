import Locking
import Synchronization

/// The observers of a cache's events. It uses the mailboxes of changes.
final class EventRegistry<Key: Hashable & Sendable>: Sendable {
  private let center = ObserverCenter()
  private let execution: HandlerExecution
  /// The number of the newest event. Its lock also orders the events in all mailboxes.
  private let newest = Guarded(EventNumber())

  init(taskExecutor: (any TaskExecutor)?) {
    execution = taskExecutor.map { .executor($0) } ?? .threads
  }

  deinit {
    finish()
  }

  /// Finishes all sequences, because the cache is deinitialized.
  func finish() { center.finish() }

  /// Whether an event has an observer. A relaxed load.
  var isObserved: Bool { center.observerCount.load(ordering: .relaxed) > 0 }

  /// Appends an event to the mailboxes. Runs no user code, and may be called under a lock that orders events. The
  /// caller must call ``deliver()`` after it unlocks.
  func record(_ event: @autoclosure () -> CacheEvent<Key>) {
    guard isObserved else { return }
    var event = event()
    newest.withLock { number in
      number.raise()
      event.number = number
      let erased = ErasedChange(event)
      center.record(erased) { erased }
    }
  }

  /// Wakes the observers of recorded events. Must be called outside all locks.
  func deliver() {
    if isObserved { center.deliver() }
  }

  /// Sends an event. Must be called outside all locks.
  func send(_ event: @autoclosure () -> CacheEvent<Key>) {
    guard isObserved else { return }
    record(event())
    center.deliver()
  }

  /// Calls `handler` with every later event, until the token ends.
  ///
  /// - Parameters:
  ///   - execution: The executor of the handler; nil for the cache's.
  ///   - handler: The closure that receives an event.
  /// - Returns: The token.
  func observe(
    on execution: HandlerExecution? = nil, _ handler: @escaping @Sendable (CacheEvent<Key>) -> Void
  ) -> ObservationToken {
    let mailbox = HandlerMailbox(on: execution ?? self.execution) { event, _ in handler(event.event()) }
    return ObservationToken(Subscription(.everything, mailbox, in: center))
  }

  /// Returns a subscription to later events, and the number of the newest event before it.
  fileprivate func subscribe(keeping limit: Int) -> EventSubscription {
    newest.withLock { number in
      EventSubscription(
        subscription: Subscription(.everything, IteratorMailbox(buffering: .bounded(limit)), in: center), last: number)
    }
  }

  /// Returns a sequence of later events.
  func events(keeping limit: Int) -> CacheEvents<Key> { CacheEvents(EventSource(self, keeping: limit)) }
}

/// A subscription to events, and the number of the event that its consumer received last.
private struct EventSubscription: Sendable {
  let subscription: Subscription<IteratorMailbox>
  var last: EventNumber
}

/// A factory for the subscriptions of a sequence's iterators. The sequence creates the first subscription itself.
private final class EventSource<Key: Hashable & Sendable>: Sendable {
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

/// An asynchronous sequence of the events of a cache.
///
///     for await event in articles.events {
///       logger.warning("\(event)")
///     }
///
/// It begins when it is created, and ends as ``Updates`` does. Its buffer is bounded: an additional event replaces the
/// oldest. The next event then tells how many were dropped (``CacheEvent/droppedCount``).
public struct CacheEvents<Key: Hashable & Sendable>: AsyncSequence, Sendable {
  /// An event of the cache.
  public typealias Element = CacheEvent<Key>
  /// The sequence never throws.
  public typealias Failure = Never

  private let source: EventSource<Key>

  fileprivate init(_ source: EventSource<Key>) {
    self.source = source
  }

  /// Creates an iterator. The first call returns one that begins with the events since the sequence was created.
  public func makeAsyncIterator() -> Iterator {
    Iterator(source.takeSubscription())
  }

  /// An iterator over events. Only one task at a time may use it.
  public struct Iterator: AsyncIteratorProtocol {
    private var subscription: EventSubscription?

    fileprivate init(_ subscription: EventSubscription?) {
      self.subscription = subscription
    }

    /// Waits for the next event and returns it; nil at the end of the sequence.
    public mutating func next() async -> CacheEvent<Key>? {
      await next(isolation: nil)
    }

    /// Waits for the next event and returns it; nil at the end of the sequence. Runs on the caller's actor.
    ///
    /// - Parameter actor: The actor of the caller.
    /// - Returns: The event; nil at the end.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> CacheEvent<Key>? {
      guard let subscription, let erased = await subscription.subscription.next(isolation: actor) else { return nil }
      var event = erased.event(of: CacheEvent<Key>.self)
      event.droppedCount = event.number.events(since: subscription.last)
      self.subscription?.last = event.number
      return event
    }
  }
}
