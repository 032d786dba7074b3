extension Cache {
  /// The events of the cache from now on, as a sequence that ends when its task is cancelled.
  ///
  /// Events are failures, timeouts, and changes of the circuit breaker. The sequence keeps the 1,024 newest events for
  /// a slow consumer (``events(keeping:)``). A cache without consumers of events makes none.
  public var events: CacheEvents<Key> { events(keeping: 1024) }

  /// Returns the events of the cache from now on, as a sequence that ends when its task is cancelled.
  ///
  /// - Parameter limit: The number of the newest events that are kept for a slow consumer, at least one.
  /// - Returns: The sequence, which keeps the newest events from the call on.
  public func events(keeping limit: Int) -> CacheEvents<Key> { loader.events.events(keeping: limit) }

  /// Calls `handler` with every event of the cache from now on, until the token is cancelled or released.
  ///
  /// The handler is called as by ``observe(_:_:)``, with one event at a time. Events that it has not yet handled are
  /// kept, without bound. If it may be slow, use ``events``.
  ///
  /// - Parameter handler: The closure that receives an event.
  /// - Returns: The token that keeps the observation alive.
  public func observeEvents(_ handler: @escaping @Sendable (CacheEvent<Key>) -> Void) -> ObservationToken {
    loader.events.observe(handler)
  }
}
