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

  init(_ source: EventSource<Key>) {
    self.source = source
  }

  /// Creates an iterator. The first call returns one that begins with the events since the sequence was created.
  public func makeAsyncIterator() -> Iterator {
    Iterator(source.takeSubscription())
  }

  /// An iterator over events. Only one task at a time may use it.
  public struct Iterator: AsyncIteratorProtocol {
    private var subscription: EventSubscription?

    init(_ subscription: EventSubscription?) {
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
