// Observing with handlers that are called on an executor of the user. The order is the same as on the library's
// threads: each observer gets its changes one at a time, each once.

extension Cache {
  /// Observes changes like ``observe(_:_:)``, and calls the handler on `executor`.
  ///
  /// A blocking handler blocks a thread of the executor.
  ///
  /// - Parameters:
  ///   - scope: The changes that are delivered.
  ///   - executor: The executor that runs the handler.
  ///   - handler: The closure that receives a change.
  /// - Returns: The token that keeps the observation alive.
  public func observe(
    _ scope: ObservationScope<Key> = .all, on executor: any TaskExecutor,
    _ handler: @escaping @Sendable (Change<Key, Value>) -> Void
  ) -> ObservationToken {
    observers.observe(scope, on: .executor(executor), handler)
  }

  /// Observes changes like ``observe(_:_:)``, and calls the handler on the main actor.
  ///
  /// ```swift
  /// let token = articles.observe(.key(id), on: MainActor.shared) { change in
  ///   title.text = change.value?.title
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - scope: The changes that are delivered.
  ///   - actor: The main actor.
  ///   - handler: The closure that receives a change.
  /// - Returns: The token that keeps the observation alive.
  public func observe(
    _ scope: ObservationScope<Key> = .all, on actor: MainActor,
    _ handler: @escaping @MainActor @Sendable (Change<Key, Value>) -> Void
  ) -> ObservationToken {
    observers.observe(scope, on: .mainActor) { change in MainActor.assumeIsolated { handler(change) } }
  }

  /// Observes change sets like ``observeChangeSets(_:_:)``, and calls the handler on `executor`.
  ///
  /// - Parameters:
  ///   - scope: The changes that are delivered. A set has only its changes in the scope. A set without any is omitted.
  ///   - executor: The executor that runs the handler.
  ///   - handler: The closure that receives a set.
  /// - Returns: The token that keeps the observation alive.
  public func observeChangeSets(
    _ scope: ObservationScope<Key> = .all, on executor: any TaskExecutor,
    _ handler: @escaping @Sendable (ChangeSet<Key, Value>) -> Void
  ) -> ObservationToken {
    observers.observeSets(scope, on: .executor(executor), handler)
  }

  /// Observes change sets like ``observeChangeSets(_:_:)``, and calls the handler on the main actor.
  ///
  /// - Parameters:
  ///   - scope: The changes that are delivered. A set has only its changes in the scope. A set without any is omitted.
  ///   - actor: The main actor.
  ///   - handler: The closure that receives a set.
  /// - Returns: The token that keeps the observation alive.
  public func observeChangeSets(
    _ scope: ObservationScope<Key> = .all, on actor: MainActor,
    _ handler: @escaping @MainActor @Sendable (ChangeSet<Key, Value>) -> Void
  ) -> ObservationToken {
    observers.observeSets(scope, on: .mainActor) { set in MainActor.assumeIsolated { handler(set) } }
  }

  /// Observes a value like ``observeValue(forKey:_:)``, and calls the handler on `executor`.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - executor: The executor that runs the handler.
  ///   - handler: The closure that receives the value, or nil.
  /// - Returns: The token that keeps the observation alive.
  public func observeValue(
    forKey key: Key, on executor: any TaskExecutor, _ handler: @escaping @Sendable (Value?) -> Void
  ) -> ObservationToken {
    observeValue(forKey: key, on: .executor(executor), calling: handler)
  }

  /// Observes a value like ``observeValue(forKey:_:)``, and calls the handler on the main actor.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - actor: The main actor.
  ///   - handler: The closure that receives the value, or nil.
  /// - Returns: The token that keeps the observation alive.
  public func observeValue(
    forKey key: Key, on actor: MainActor, _ handler: @escaping @MainActor @Sendable (Value?) -> Void
  ) -> ObservationToken {
    observeValue(forKey: key, on: .mainActor) { value in MainActor.assumeIsolated { handler(value) } }
  }

  /// Observes events like ``observeEvents(_:)``, and calls the handler on `executor`.
  ///
  /// - Parameters:
  ///   - executor: The executor that runs the handler.
  ///   - handler: The closure that receives an event.
  /// - Returns: The token that keeps the observation alive.
  public func observeEvents(
    on executor: any TaskExecutor, _ handler: @escaping @Sendable (CacheEvent<Key>) -> Void
  ) -> ObservationToken {
    loader.events.observe(on: .executor(executor), handler)
  }

  /// Observes events like ``observeEvents(_:)``, and calls the handler on the main actor.
  ///
  /// - Parameters:
  ///   - actor: The main actor.
  ///   - handler: The closure that receives an event.
  /// - Returns: The token that keeps the observation alive.
  public func observeEvents(
    on actor: MainActor, _ handler: @escaping @MainActor @Sendable (CacheEvent<Key>) -> Void
  ) -> ObservationToken {
    loader.events.observe(on: .mainActor) { event in MainActor.assumeIsolated { handler(event) } }
  }
}
