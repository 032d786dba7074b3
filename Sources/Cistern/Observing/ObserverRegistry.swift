import Synchronization

/// A cache's observers: numbers its changes, and puts them into the mailboxes of those who are to hear of them.
///
/// Two steps for whoever changes an entry: ``record(_:)`` inside the entry's critical section, which settles the order;
/// ``deliver()`` after it, which wakes those concerned.
@usableFromInline
package final class ObserverRegistry<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  @usableFromInline
  let center = ObserverCenter()
  /// The place where handlers without an executor are called.
  private let execution: HandlerExecution
  private let lastNumber = Atomic<UInt64>(0)

  /// Creates a registry without observers. Handlers run on `taskExecutor`; nil for threads of the library's own.
  package init(taskExecutor: (any TaskExecutor)?) {
    execution = taskExecutor.map { .executor($0) } ?? .threads
  }

  /// The cache is gone: sequences end, once what is in them has been taken.
  deinit {
    center.finish()
  }

  /// Whether anyone listens. One relaxed load: who registers while a change is made may miss that change.
  @inlinable
  package var isObserved: Bool { center.observerCount.load(ordering: .relaxed) > 0 }

  /// The number of the newest change. Inside a key's critical section it tells the key's earlier changes from later ones.
  package var newestNumber: UInt64 { lastNumber.load(ordering: .relaxed) }

  /// Numbers a change and hands it to the observers of its key, and to those of its tags: the tags of the values before and
  /// after it.
  ///
  /// Call it inside the entry's critical section, so that the calls for a key have the order of its changes. It runs
  /// nothing and frees nothing of a user's, save a key's hash and `==`, and blocks for its own short lock only. Call
  /// ``deliver()`` after unlocking.
  @usableFromInline
  package func record(_ event: Change<Key, Value>.Event, context: WriterContext? = nil, tags: [String] = []) {
    guard isObserved else { return }
    let number = lastNumber.add(1, ordering: .relaxed).newValue
    let change = Change<Key, Value>(number: number, event: event, context: context)
    center.record(ErasedChange(change, tags: tags)) { ErasedChange(ChangeSet(changes: [change], context: context)) }
  }

  /// Numbers the changes that one write made, and hands them to the observers of their keys: together, to those who
  /// observe sets. As ``record(_:context:)``, for keys of several entries, inside the critical sections of all.
  @usableFromInline
  package func record(_ events: [(event: Change<Key, Value>.Event, tags: [String])], context: WriterContext?) {
    guard isObserved, !events.isEmpty else { return }
    let last = lastNumber.add(UInt64(events.count), ordering: .relaxed).newValue
    let changes = events.enumerated().map { offset, one in
      Change<Key, Value>(number: last - UInt64(events.count - 1 - offset), event: one.event, context: context)
    }
    center.record(zip(changes, events).map { ErasedChange($0, tags: $1.tags) }) { places in
      ErasedChange(ChangeSet(changes: places.map { changes[$0] }, context: context))
    }
  }

  /// Wakes the observers whom a recorded change concerns, and frees what it displaced. Call it outside all locks.
  @usableFromInline
  package func deliver() {
    guard isObserved else { return }
    center.deliver()
  }

  /// Calls `handler` with every change of the scope from now on, until the token ends.
  ///
  /// - Parameters:
  ///   - scope: the changes that are delivered.
  ///   - execution: the place where the handler is called; nil for the registry's own.
  ///   - handler: called with each change.
  package func observe(
    _ scope: ObservationScope<Key>, on execution: HandlerExecution? = nil,
    _ handler: @escaping @Sendable (Change<Key, Value>) -> Void
  ) -> ObservationToken {
    let mailbox = HandlerMailbox(on: execution ?? self.execution) { handler($0.change()) }
    return ObservationToken(Subscription(ErasedScope(scope), mailbox, in: center))
  }

  /// Calls `handler` with a change that tells how things are, and with every change of the scope from now on, until the
  /// token ends.
  ///
  /// - Parameters:
  ///   - scope: the changes that are delivered.
  ///   - execution: the place where the handler is called; nil for the registry's own.
  ///   - first: makes that change, when the observer is registered already: later changes may come before it.
  ///   - handler: called with each change.
  package func observe(
    _ scope: ObservationScope<Key>, on execution: HandlerExecution? = nil,
    beginningWith first: () -> Change<Key, Value>,
    _ handler: @escaping @Sendable (Change<Key, Value>) -> Void
  ) -> ObservationToken {
    let mailbox = HandlerMailbox(on: execution ?? self.execution) { handler($0.change()) }
    let subscription = Subscription(ErasedScope(scope), mailbox, in: center)
    if mailbox.append(ErasedChange(first())) { mailbox.attend() }
    return ObservationToken(subscription)
  }

  /// The changes of the scope from now on, as a sequence.
  package func updates(_ scope: ObservationScope<Key>, buffering: UpdateBuffering) -> Updates<Key, Value> {
    Updates(UpdatesSource(ErasedScope(scope), buffering: buffering.policy, of: center))
  }

  /// Calls `handler` with the changes of the scope from now on, those of one write together, until the token ends.
  ///
  /// - Parameters:
  ///   - scope: the changes that are delivered.
  ///   - execution: the place where the handler is called; nil for the registry's own.
  ///   - handler: called with each set.
  package func observeSets(
    _ scope: ObservationScope<Key>, on execution: HandlerExecution? = nil,
    _ handler: @escaping @Sendable (ChangeSet<Key, Value>) -> Void
  ) -> ObservationToken {
    let mailbox = HandlerMailbox(on: execution ?? self.execution) { handler($0.changeSet()) }
    return ObservationToken(Subscription(ErasedScope(scope), mailbox, hearing: .changeSets, in: center))
  }

  /// The changes of the scope from now on, those of one write together, as a sequence.
  package func sets(_ scope: ObservationScope<Key>, keeping limit: Int?) -> ChangeSets<Key, Value> {
    let policy = limit.map { ChangeBuffer.Policy.bounded($0) } ?? .unbounded
    return ChangeSets(UpdatesSource(ErasedScope(scope), buffering: policy, hearing: .changeSets, of: center))
  }
}
