import Locking

extension Cache {
  /// Calls `handler` with every change in `scope` from now on, until the token is cancelled or goes out of scope.
  ///
  /// Each observer has its changes one at a time, each once, per key in the order in which they were made. What it has not yet
  /// handled is kept, without bound.
  ///
  /// The handler is called on a thread that the library keeps for handlers. It may use the cache, and it may block: that delays
  /// no load and no other observer. There are at most 64 such threads in a process, or eight for each processor where that is
  /// more; while as many handlers block, the other handlers of the process wait. A store with a task executor of its own
  /// (``Store/Configuration/taskExecutor``) calls handlers there.
  ///
  /// - Returns: the token that keeps the observation alive.
  public func observe(
    _ scope: ObservationScope<Key> = .all, _ handler: @escaping @Sendable (Change<Key, Value>) -> Void
  ) -> ObservationToken {
    observers.observe(scope, handler)
  }

  /// The changes in `scope` from now on, as a sequence that ends when its task is cancelled.
  public func updates(
    _ scope: ObservationScope<Key> = .all, buffering: UpdateBuffering = .newestPerKey
  ) -> Updates<Key, Value> {
    observers.updates(scope, buffering: buffering)
  }

  /// Calls `handler` with every set of changes in `scope` from now on: what one write changed, together. A batch's is one
  /// set; of anything else that changes, each change is a set by itself. In all else as ``observe(_:_:)``.
  public func observeChangeSets(
    _ scope: ObservationScope<Key> = .all, _ handler: @escaping @Sendable (ChangeSet<Key, Value>) -> Void
  ) -> ObservationToken {
    observers.observeSets(scope, handler)
  }

  /// The sets of changes in `scope` from now on, as a sequence that ends when its task is cancelled.
  ///
  /// - Parameters:
  ///   - scope: what is heard of. A set brings only those of its changes that are in it, and is left out without any.
  ///   - limit: how many of the newest sets are kept for a consumer that is slower than they come; nil for all.
  public func changeSets(
    _ scope: ObservationScope<Key> = .all, keeping limit: Int? = nil
  ) -> ChangeSets<Key, Value> {
    observers.sets(scope, keeping: limit)
  }

  /// Calls `handler` with the value of a key as it is, and with every later one, until the token is cancelled or goes out of
  /// scope: with no gap between them, and none twice. Nil says that there is none now. A value in grace counts as the key's value.
  ///
  /// Every call, the first too, is made as ``observe(_:_:)`` makes them. The value of now is looked up on the calling thread,
  /// in both tiers.
  ///
  /// - Returns: the token that keeps the observation alive.
  public func observeValue(
    forKey key: Key, _ handler: @escaping @Sendable (Value?) -> Void
  ) -> ObservationToken {
    observeValue(forKey: key, on: nil, calling: handler)
  }

  /// As ``observeValue(forKey:_:)``, with a choice of where the handler is called.
  func observeValue(
    forKey key: Key, on execution: HandlerExecution?, calling handler: @escaping @Sendable (Value?) -> Void
  ) -> ObservationToken {
    // The handler has its changes one at a time: the lock is never waited for, and not held while it runs.
    let shown = Guarded(ShownValue<Key, Value>())
    let beginning = WriterContext()
    return observers.observe(.key(key), on: execution) {
      let (value, number) = numberedValue(forKey: key)
      return Change(
        number: number, event: value.map { .updated(key, $0) } ?? .removed(key, .explicit), context: beginning)
    } _: { [weak self] change in
      // What changed since the registration came before it, and shows as much.
      if change.context == beginning, shown.withLock({ $0.hasBegun }) { return }
      let current =
        if case .invalidated = change.event { self?.numberedValue(forKey: key) } else { nil as (Value?, UInt64)? }
      if let value = shown.withLock({ $0.take(change) { current } }) { handler(value) }
    }
  }

  /// The value of a key as it is when somebody begins to iterate, and every later one: with no gap between them, and none
  /// twice.
  public func valueUpdates(forKey key: Key) -> ValueUpdates<Key, Value> {
    ValueUpdates(key: key, updates: observers.updates(.key(key), buffering: .newestPerKey), cache: self)
  }

  /// What observers take for the key's value, and the number of the newest change that it shows. A value in grace is the
  /// key's value until it is gone: loads return it, and no change has told otherwise.
  func numberedValue(forKey key: Key) -> (Value?, UInt64) {
    let (finding, number) = find(key, hash: table.hash(key)) { observers.newestNumber }
    let value = if let edited = finding.edited { edited.shown } else { finding.usable }
    return (value, number)
  }

  /// The changes of one key from now on, as a sequence that ends when its task is cancelled.
  public func updates(
    forKey key: Key, buffering: UpdateBuffering = .newestPerKey
  ) -> Updates<Key, Value> {
    observers.updates(.key(key), buffering: buffering)
  }
}
