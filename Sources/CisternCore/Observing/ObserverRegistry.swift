import Synchronization

/// The observers of a cache. The registry numbers changes and appends them to mailboxes.
///
/// A writer performs two steps. It calls ``record(_:context:)`` within the entry's critical section, which
/// determines the order. It calls ``deliver()`` afterwards, which wakes the observers.
@usableFromInline
package final class ObserverRegistry<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  @usableFromInline
  let center = ObserverCenter()
  /// The context for handlers that specify none.
  let execution: HandlerExecution
  private let lastNumber = Atomic<UInt64>(0)

  /// Creates a registry without observers.
  ///
  /// - Parameter taskExecutor: The executor for handlers; nil for threads of the library.
  package init(taskExecutor: (any TaskExecutor)?) {
    execution = taskExecutor.map { .executor($0) } ?? .threads
  }

  deinit {
    finish()
  }

  /// Finishes all sequences, because the cache is deinitialized. Their consumers receive the remaining changes
  /// first.
  func finish() { center.finish() }

  /// Whether the cache has observers. A relaxed load: an observer that registers concurrently with a change may
  /// miss that change.
  @inlinable
  package var isObserved: Bool { center.observerCount.load(ordering: .relaxed) > 0 }

  /// The number of the newest change. Within a key's critical section, it separates the key's earlier changes from
  /// later ones.
  package var newestNumber: ChangeNumber { ChangeNumber(number: lastNumber.load(ordering: .relaxed)) }

  /// Numbers a change and appends it to the mailboxes of its observers.
  ///
  /// Must be called within the entry's critical section, so that the order of calls is the order of the key's
  /// changes. It runs no user code except the key's hash function and `==`. It releases no user value, and acquires
  /// only the registry's own short lock. The caller keeps the previous value until it unlocks, and must call
  /// ``deliver()`` afterwards.
  ///
  /// - Parameters:
  ///   - pending: The change.
  ///   - context: The writer's context.
  @usableFromInline
  package func record(_ pending: PendingChange<Key, Value>, context: WriterContext? = nil) {
    guard isObserved else { return }
    let number = ChangeNumber(number: lastNumber.add(1, ordering: .relaxed).newValue)
    let change = Change<Key, Value>(
      number: number, event: pending.event, previous: pending.previous, context: context)
    center.record(ErasedChange(change, tags: pending.tags)) {
      ErasedChange(ChangeSet(changes: [change], context: context, isWidened: pending.isWidened))
    }
  }

  /// Appends a write that is not announced to the mailboxes of observers of a tag's contents, if the value enters or
  /// leaves them. Otherwise as ``record(_:context:)``.
  @usableFromInline
  package func recordUnannounced(_ pending: PendingChange<Key, Value>) {
    let tags = pending.tags
    guard isObserved, tags.former.map({ $0 != tags.new }) ?? true else { return }
    let number = ChangeNumber(number: lastNumber.add(1, ordering: .relaxed).newValue)
    let change = Change<Key, Value>(number: number, event: pending.event, previous: pending.previous)
    center.recordUnannounced(ErasedChange(change, tags: tags))
  }

  /// Numbers the changes of one write and appends them to the mailboxes of their observers. Observers of change
  /// sets receive them together.
  ///
  /// Must be called within the critical sections of all entries. In all other respects, it behaves as
  /// ``record(_:context:)``.
  @usableFromInline
  package func record(_ events: [PendingChange<Key, Value>], context: WriterContext?) {
    guard isObserved, !events.isEmpty else { return }
    let last = lastNumber.add(UInt64(events.count), ordering: .relaxed).newValue
    let changes = events.enumerated().map { offset, one in
      let number = ChangeNumber(number: last - UInt64(events.count - 1 - offset))
      return Change<Key, Value>(number: number, event: one.event, previous: one.previous, context: context)
    }
    center.record(zip(changes, events).map { ErasedChange($0, tags: $1.tags) }) { places in
      ErasedChange(ChangeSet(changes: places.map { changes[$0] }, context: context))
    }
  }

  /// Wakes the observers of recorded changes, and releases displaced changes. Must be called outside all locks.
  @usableFromInline
  package func deliver() {
    guard isObserved else { return }
    center.deliver()
  }

  /// Calls `handler` with every later change in the scope, until the token ends.
  ///
  /// - Parameters:
  ///   - scope: The changes to deliver.
  ///   - execution: The context for the handler; nil for the registry's default.
  ///   - handler: A closure that receives each change.
  /// - Returns: The token that keeps the observation active.
  package func observe(
    _ scope: ObservationScope<Key>, on execution: HandlerExecution? = nil,
    _ handler: @escaping @Sendable (Change<Key, Value>) -> Void
  ) -> ObservationToken {
    let mailbox = HandlerMailbox(on: execution ?? self.execution) { change, _ in handler(change.change()) }
    return ObservationToken(Subscription(ErasedScope(scope), mailbox, in: center))
  }

  /// Calls `handler` with an initial change, and with every later change in the scope, until the token ends.
  ///
  /// - Parameters:
  ///   - scope: The changes to deliver.
  ///   - execution: The context for the handler; nil for the registry's default.
  ///   - first: Returns the initial change. It is called after the registration, so later changes may precede the
  ///     initial one.
  ///   - handler: A closure that receives each change, and the mailbox that calls it.
  /// - Returns: The token that keeps the observation active.
  func observe(
    _ scope: ObservationScope<Key>, on execution: HandlerExecution? = nil,
    beginningWith first: () -> Change<Key, Value>,
    _ handler: @escaping @Sendable (Change<Key, Value>, HandlerMailbox) -> Void
  ) -> ObservationToken {
    let mailbox = HandlerMailbox(on: execution ?? self.execution) { handler($0.change(), $1) }
    let subscription = Subscription(ErasedScope(scope), mailbox, in: center)
    if mailbox.append(ErasedChange(first())) { mailbox.startDelivery() }
    return ObservationToken(subscription)
  }

  /// Returns a sequence of the later changes in the scope.
  package func updates(_ scope: ObservationScope<Key>, buffering: UpdateBuffering) -> Updates<Key, Value> {
    Updates(UpdatesSource(ErasedScope(scope), buffering: buffering.policy, of: center))
  }

  /// Calls `handler` with the change set of every later write in the scope, until the token ends.
  ///
  /// - Parameters:
  ///   - scope: The changes to deliver.
  ///   - execution: The context for the handler; nil for the registry's default.
  ///   - handler: A closure that receives each change set.
  /// - Returns: The token that keeps the observation active.
  package func observeSets(
    _ scope: ObservationScope<Key>, on execution: HandlerExecution? = nil,
    _ handler: @escaping @Sendable (ChangeSet<Key, Value>) -> Void
  ) -> ObservationToken {
    let mailbox = HandlerMailbox(on: execution ?? self.execution) { set, _ in handler(set.changeSet()) }
    return ObservationToken(Subscription(ErasedScope(scope), mailbox, delivering: .changeSets, in: center))
  }

  /// Returns a sequence of the change sets of later writes in the scope.
  package func sets(_ scope: ObservationScope<Key>, keeping limit: Int?) -> ChangeSets<Key, Value> {
    let policy = limit.map { ChangeBuffer.Policy.bounded($0) } ?? .unbounded
    return ChangeSets(UpdatesSource(ErasedScope(scope), buffering: policy, delivering: .changeSets, of: center))
  }
}
