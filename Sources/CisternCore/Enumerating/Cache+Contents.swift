// The contents of a scope: initial entries, and then changes.

extension Cache where Key: CacheKey {
  /// Returns the entries of a scope in both tiers, and every later change, as a sequence. No change is missed, and none
  /// comes twice.
  ///
  /// ```swift
  /// var news: [String: Article] = [:]
  /// for await update in articles.contentUpdates(.prefix("news/")) { update.apply(to: &news) }
  /// ```
  ///
  /// The enumeration costs what ``entries(_:)`` costs, and the reading and decoding of each value. It evicts no value.
  /// A removal by tag or prefix that concerns a part of the scope enumerates again.
  ///
  /// - Parameters:
  ///   - scope: The entries and changes to deliver.
  ///   - buffering: The changes that are kept for a slow consumer after the initial entries. If a bounded buffer is
  ///     full, the sequence drops it and enumerates again (``ContentUpdate/restarted(cause:)``). During an enumeration,
  ///     the sequence keeps the newest change of each key.
  /// - Returns: The sequence.
  public func contentUpdates(
    _ scope: ObservationScope<Key> = .all, buffering: UpdateBuffering = .newestPerKey
  ) -> ContentUpdates<Key, Value> {
    ContentUpdates(scope, buffering: buffering, of: self)
  }

  /// Calls `handler` with the elements of ``contentUpdates(_:buffering:)``, until the token is cancelled or goes out of
  /// scope.
  ///
  /// The calls come one at a time, on the threads of ``observe(_:_:)``. A handler that is slower than the writers
  /// misses changes as the buffering says.
  ///
  /// - Parameters:
  ///   - scope: The entries and changes to deliver.
  ///   - buffering: The changes that are kept for a slow handler, as in ``contentUpdates(_:buffering:)``.
  ///   - handler: The closure that receives an element.
  /// - Returns: The token that keeps the observation alive.
  public func observeContents(
    _ scope: ObservationScope<Key> = .all, buffering: UpdateBuffering = .newestPerKey,
    _ handler: @escaping @Sendable (ContentUpdate<Key, Value>) -> Void
  ) -> ObservationToken {
    observeContents(scope, buffering: buffering, on: nil, calling: handler)
  }

  /// Observes contents like ``observeContents(_:buffering:_:)``, and calls the handler on `executor`.
  ///
  /// - Parameters:
  ///   - scope: The entries and changes to deliver.
  ///   - buffering: The changes that are kept for a slow handler, as in ``contentUpdates(_:buffering:)``.
  ///   - executor: The executor that runs the handler.
  ///   - handler: The closure that receives an element.
  /// - Returns: The token that keeps the observation alive.
  public func observeContents(
    _ scope: ObservationScope<Key> = .all, buffering: UpdateBuffering = .newestPerKey, on executor: any TaskExecutor,
    _ handler: @escaping @Sendable (ContentUpdate<Key, Value>) -> Void
  ) -> ObservationToken {
    observeContents(scope, buffering: buffering, on: .executor(executor), calling: handler)
  }

  /// Observes contents like ``observeContents(_:buffering:_:)``, and calls the handler on the main actor. The
  /// enumeration also runs there, in groups of 64 entries.
  ///
  /// - Parameters:
  ///   - scope: The entries and changes to deliver.
  ///   - buffering: The changes that are kept for a slow handler, as in ``contentUpdates(_:buffering:)``.
  ///   - actor: The main actor.
  ///   - handler: The closure that receives an element.
  /// - Returns: The token that keeps the observation alive.
  public func observeContents(
    _ scope: ObservationScope<Key> = .all, buffering: UpdateBuffering = .newestPerKey, on actor: MainActor,
    _ handler: @escaping @MainActor @Sendable (ContentUpdate<Key, Value>) -> Void
  ) -> ObservationToken {
    observeContents(scope, buffering: buffering, on: .mainActor) { update in
      MainActor.assumeIsolated { handler(update) }
    }
  }

  private func observeContents(
    _ scope: ObservationScope<Key>, buffering: UpdateBuffering, on execution: HandlerExecution?,
    calling handler: @escaping @Sendable (ContentUpdate<Key, Value>) -> Void
  ) -> ObservationToken {
    let reader = ContentReader(scope, buffering: buffering, of: self)
    guard let subscription = reader.subscription else { preconditionFailure("the cache exists") }
    let observation = ContentObservation<Key, Value>(subscription: subscription, handler: handler)
    observation.start(reader, on: execution ?? observers.execution)
    return ObservationToken(subscription)
  }
}
