import Synchronization

extension Flight {
  /// Gives a value to every waiter before the flight completes. Called outside all locks.
  ///
  /// - Returns: Whether the value was announced. False if the flight has ended or has announced a value before.
  final func announce(_ value: Value) -> Bool {
    let announced = withState { state -> FlightState<Value, WaitingTask<Value>>.Completion? in
      // The value keeps the flight, and the flight keeps its work.
      if case .unattended = state.phase, !attend(&state) { return nil }
      let tasks = state.announce(value)
      if let tasks { counts.suspended.wrappingSubtract(tasks.count, ordering: .relaxed) }
      return tasks
    }
    guard let announced else { return false }
    announced.first?.resume(.early(value))
    for task in announced.others { task.resume(.early(value)) }
    return true
  }

  /// Withdraws the announced value. Waiters from now on wait for the result.
  @usableFromInline
  final func withdrawAnnouncement() {
    // Released outside the lock, because a value's deinitializer is the user's code.
    let withdrawn = withState { $0.withdrawAnnouncement() }
    withExtendedLifetime(withdrawn) {}
  }
}
