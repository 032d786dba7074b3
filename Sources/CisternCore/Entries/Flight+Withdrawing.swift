import Synchronization

extension Flight {
  /// The number of the waiter that registered the flight.
  static var leader: Int { 0 }

  /// Removes a waiter that joined but will not wait, because it has a value from elsewhere. Called outside all locks.
  @usableFromInline
  final func withdraw(_ waiter: Int) {
    guard withState({ $0.withdraw(waiter, abandoningIfLast: isAbandonable) }) else { return }
    // The entry is removed first: no load may find a cancelled flight.
    abandon()
    work.leaveOne()
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

// MARK: The second tier

extension Flight {
  /// Whether a load can join this flight without a look-up in the second tier.
  @inlinable
  final var isAheadOfSecondTier: Bool { coversSecondTier.load(ordering: .relaxed) }

  /// Notes that the leader looks in the second tier. Called inside the shard's critical section.
  @inlinable
  final func coverSecondTier() { coversSecondTier.store(true, ordering: .relaxed) }

  /// Notes that the second tier has a value and the flight fetches another one. Called inside the shard's critical
  /// section.
  @usableFromInline
  final func leaveSecondTierToNextLoad() { coversSecondTier.store(false, ordering: .relaxed) }

  /// Whether an older fetch has changed the key's record since the flight began. A look-up for this flight may have read the
  /// former record.
  @inlinable
  final var hasNewerRecord: Bool { newerRecord.load(ordering: .relaxed) }

  /// Notes that an older fetch changed the key's record. Called inside the shard's critical section.
  @usableFromInline
  final func noteNewerRecord() { newerRecord.store(true, ordering: .relaxed) }

  /// Notes that the flight completes with a value from the second tier.
  @inlinable
  final func noteSecondTier() { completedFromSecondTier.store(true, ordering: .releasing) }

  /// Whether the flight completed with a value from the second tier.
  @inlinable
  final var isFromSecondTier: Bool { completedFromSecondTier.load(ordering: .acquiring) }

  /// Returns whether a load must not use the flight's value, because the value came from the second tier and the load
  /// requires a fetched one.
  @inlinable
  final func doesNotSatisfy(_ demand: @autoclosure () -> Demand) -> Bool {
    completedFromSecondTier.load(ordering: .acquiring) && !demand().acceptsFresh
  }
}
