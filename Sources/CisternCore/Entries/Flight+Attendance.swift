// A flight that shares its work with other flights may have no waiters. It is unattended until the work ends.

extension Flight {
  /// Makes an unattended flight count for its work again. Called inside the flight's lock, within which the work takes
  /// its own.
  ///
  /// - Returns: Whether the flight takes a waiter now. False if its work is cancelled.
  @usableFromInline
  @inline(never)
  final func attend(_ state: inout State) -> Bool {
    guard work.addFlightAgain() else { return false }
    state.attend()
    return true
  }

  /// Abandons the flight if it is unattended. Called outside all locks, after the work was cancelled.
  @usableFromInline
  final func abandonIfUnattended() {
    if withState({ $0.abandonIfUnattended() }) { abandon() }
  }

  /// Whether the flight was cancelled, because no waiter is left. Its entry is about to be removed.
  final var isAbandoned: Bool {
    withState { state in
      switch state.phase {
      case .abandoned: true
      case .unattended: work.isCancelled
      case .running, .kept, .announced, .completed: false
      }
    }
  }
}
