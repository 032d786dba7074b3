import Locking

extension Cache {
  /// Calls `handler` with every change in `scope` from now on, until the token is cancelled or released.
  ///
  /// An observer gets its changes one at a time. It gets each change once, and the changes of a key in their order.
  /// Changes that it has not yet handled are kept, without bound.
  ///
  /// The handler is called on a thread that the library keeps for handlers. It may use the cache, and it may block. A
  /// blocked handler delays no load and no other observer. A process has at most 64 such threads, or eight for each
  /// processor if that is more. While as many handlers block, the other handlers of the process wait. A store with its
  /// own task executor (``Store/Configuration/taskExecutor``) calls handlers there.
  ///
  /// - Parameters:
  ///   - scope: The changes that are delivered.
  ///   - handler: The closure that receives a change.
  /// - Returns: The token that keeps the observation alive.
  public func observe(
    _ scope: ObservationScope<Key> = .all, _ handler: @escaping @Sendable (Change<Key, Value>) -> Void
  ) -> ObservationToken {
    observers.observe(scope, handler)
  }

  /// Returns the changes in `scope` from now on, as a sequence that ends when its task is cancelled.
  ///
  /// - Parameters:
  ///   - scope: The changes that are delivered.
  ///   - buffering: The changes that are kept for a slow consumer.
  /// - Returns: The sequence.
  public func updates(
    _ scope: ObservationScope<Key> = .all, buffering: UpdateBuffering = .newestPerKey
  ) -> Updates<Key, Value> {
    observers.updates(scope, buffering: buffering)
  }

  /// Calls `handler` with every set of changes in `scope` from now on, until the token is cancelled or released.
  ///
  /// The changes of a batch are one set, and every other change is a set by itself. Otherwise, the call is like
  /// ``observe(_:_:)``.
  ///
  /// - Parameters:
  ///   - scope: The changes that are delivered. A set has only its changes in the scope. A set without any is omitted.
  ///   - handler: The closure that receives a set.
  /// - Returns: The token that keeps the observation alive.
  public func observeChangeSets(
    _ scope: ObservationScope<Key> = .all, _ handler: @escaping @Sendable (ChangeSet<Key, Value>) -> Void
  ) -> ObservationToken {
    observers.observeSets(scope, handler)
  }

  /// Returns the sets of changes in `scope` from now on, as a sequence that ends when its task is cancelled.
  ///
  /// - Parameters:
  ///   - scope: The changes that are delivered. A set has only its changes in the scope. A set without any is omitted.
  ///   - limit: The number of the newest sets that are kept for a slow consumer; nil for all.
  /// - Returns: The sequence of sets.
  public func changeSets(
    _ scope: ObservationScope<Key> = .all, keeping limit: Int? = nil
  ) -> ChangeSets<Key, Value> {
    observers.sets(scope, keeping: limit)
  }

  /// Calls `handler` with the current value of a key, and with every later one, until the token is cancelled or
  /// released.
  ///
  /// No value is missed, and none comes twice. Nil means that the key has no value. A value in grace counts as the
  /// key's value.
  ///
  /// All calls are made as by ``observe(_:_:)``, including the first one. The current value is looked up on the calling
  /// thread, in both tiers.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - handler: The closure that receives a value, or nil for no value.
  /// - Returns: The token that keeps the observation alive.
  public func observeValue(
    forKey key: Key, _ handler: @escaping @Sendable (Value?) -> Void
  ) -> ObservationToken {
    observeValue(forKey: key, on: nil, calling: handler)
  }

  /// Observes a value like ``observeValue(forKey:_:)``, and calls the handler in the given place.
  func observeValue(
    forKey key: Key, on execution: HandlerExecution?, calling handler: @escaping @Sendable (Value?) -> Void
  ) -> ObservationToken {
    // The handler gets its changes one at a time: no thread waits for the lock, and it is not held while the handler
    // runs.
    let shown = Guarded(ShownValue<Key, Value>())
    // Marks the call with the initial value.
    let initial = WriterContext()
    return observers.observe(.key(key), on: execution) {
      let (value, number) = numberedValue(forKey: key)
      return Change(
        number: number, event: value.map { .updated(key, $0) } ?? .removed(key, .explicit), context: initial)
    } _: { [weak self] change, mailbox in
      var taken = shown.withLock { $0 }
      func current() -> ShownValue<Key, Value>.Current? {
        // The order matters: the mailbox has each change that the value includes.
        let current = self?.numberedValue(forKey: key)
        return mailbox.isEmpty ? current : nil
      }
      let values =
        if change.context == initial {
          taken.takeInitial((change.value, change.changeNumber), current: current)
        } else {
          taken.takeEach(change, current: current)
        }
      shown.withLock { $0 = taken }
      // The handler may end the observation between two values.
      for value in values where !mailbox.hasEnded { handler(value) }
    }
  }

  /// Returns the value of a key at the beginning of an iteration, and every later one, as a sequence.
  ///
  /// No value is missed, and none comes twice.
  ///
  /// - Parameter key: The key.
  /// - Returns: The sequence, whose elements are nil if the key has no value.
  public func valueUpdates(forKey key: Key) -> ValueUpdates<Key, Value> {
    ValueUpdates(key: key, updates: observers.updates(.key(key), buffering: .newestPerKey), cache: self)
  }

  /// Returns the value that observers saw last, and the number of the newest change.
  ///
  /// A value in grace is the key's value until its grace ends. Loads return it, and no change has ended it.
  ///
  /// - Parameter key: The key.
  /// - Returns: The value, and the number of the change.
  func numberedValue(forKey key: Key) -> (Value?, ChangeNumber) {
    let (snapshot, number) = records.numberedSnapshot(of: table.hashed(key))
    let value = if let edited = snapshot.edited { edited.shown } else { snapshot.usable }
    return (value, number)
  }

  /// Returns the changes of one key from now on, as a sequence that ends when its task is cancelled.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - buffering: The changes that are kept for a slow consumer.
  /// - Returns: The sequence.
  public func updates(
    forKey key: Key, buffering: UpdateBuffering = .newestPerKey
  ) -> Updates<Key, Value> {
    observers.updates(.key(key), buffering: buffering)
  }
}
