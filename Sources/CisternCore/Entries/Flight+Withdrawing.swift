import Synchronization

extension Flight {
  /// The number of the waiter that registered the flight.
  static var leader: Int { 0 }

  /// Removes a waiter that joined but will not wait, because it has a value from elsewhere. Called outside all locks.
  @usableFromInline
  final func withdraw(_ waiter: Int) {
    if withState({ $0.withdraw(waiter, abandonment: abandonment) }) { leaveWork() }
  }

  /// Makes every waiter except the leader load again. The flight continues. Called outside all locks.
  @usableFromInline
  final func returnWaiters() {
    let tasks = withState { state in
      let tasks = state.returnWaiters(with: .lookAgain)
      counts.suspended.wrappingSubtract(tasks.count, ordering: .relaxed)
      return tasks
    }
    for task in tasks { task.resume(.lookAgain) }
  }
}

// MARK: Lost entries

extension Flight {
  /// Notes that another flight takes the entry. Called inside the shard's critical section.
  @usableFromInline
  final func noteReplaced() { replaced.store(true, ordering: .relaxed) }

  /// Whether another flight has taken the entry. False if a write had taken it before.
  final var isReplaced: Bool { replaced.load(ordering: .relaxed) }

  /// Notes that the flight ends without its entry, because a write, a removal or a clear has taken it.
  ///
  /// Has no effect if another flight has taken it. Call it before the flight completes.
  @usableFromInline
  final func noteDisowned() {
    // The older value stays if another flight has replaced this one.
    if !isReplaced { disowned.store(true, ordering: .releasing) }
  }

  /// Whether a write, a removal or a clear had taken the entry when the flight ended.
  final var isDisowned: Bool { disowned.load(ordering: .acquiring) }

  /// Whether the flight has completed, with or without a value.
  final var isCompleted: Bool { withState { if case .completed = $0.phase { true } else { false } } }
}
