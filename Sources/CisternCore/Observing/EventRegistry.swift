import Locking

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
  func subscribe(keeping limit: Int) -> EventSubscription {
    newest.withLock { number in
      EventSubscription(
        subscription: Subscription(.everything, IteratorMailbox(buffering: .bounded(limit)), in: center), last: number)
    }
  }

  /// Returns a sequence of later events.
  func events(keeping limit: Int) -> CacheEvents<Key> { CacheEvents(EventSource(self, keeping: limit)) }
}
