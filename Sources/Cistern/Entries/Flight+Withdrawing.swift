import Synchronization

extension Flight {
  /// The number of the waiter that registered the flight.
  static var leader: Int { 0 }

  /// A waiter that joined does not come to wait, because it has its value from elsewhere. Outside all locks.
  @usableFromInline
  final func withdraw(_ waiter: Int) {
    guard withState({ $0.withdraw(waiter, abandoningIfLast: isAbandonable) }) else { return }
    // The entry first: no load may find a flight that is cancelled.
    abandon()
    work.leaveOne()
  }

  /// Makes everyone but the leader look again, outside all locks. The flight goes on.
  @usableFromInline
  final func sendBack() {
    let tasks = withState { state in
      let tasks = state.sendBack(with: LookAgain())
      counts.suspended.wrappingSubtract(tasks.count, ordering: .relaxed)
      return tasks
    }
    for task in tasks { task.resume(.failure(LookAgain())) }
  }
}

// MARK: The second tier

extension Flight {
  /// Whether a load need not look in the second tier beside this flight.
  @inlinable
  final var isAheadOfSecondTier: Bool { coversSecondTier.load(ordering: .relaxed) }

  /// The leader looks in the second tier. In the shard's critical section, as ``leaveSecondTierToOthers()``.
  @inlinable
  final func coverSecondTier() { coversSecondTier.store(true, ordering: .relaxed) }

  /// The second tier has something that others may want, and the flight brings something else.
  @usableFromInline
  final func leaveSecondTierToOthers() { coversSecondTier.store(false, ordering: .relaxed) }

  /// The value that the flight lands with comes from the second tier.
  @inlinable
  final func noteSecondTier() { landedFromSecondTier.store(true, ordering: .releasing) }

  /// Whether a load must not have the value that the flight landed with: it wants one that is fetched.
  @inlinable
  final func disappoints(_ demand: @autoclosure () -> Demand) -> Bool {
    landedFromSecondTier.load(ordering: .acquiring) && !demand().acceptsFresh
  }
}
