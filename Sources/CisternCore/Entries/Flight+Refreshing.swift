import Synchronization

// Flights that begin without waiters.

extension Flight {
  /// Makes the flight a refresh, which begins without waiters and continues without them. Called inside the shard's
  /// critical section.
  @inlinable
  final func beginRefresh() {
    startedAsRefresh.store(true, ordering: .relaxed)
    keep()
  }

  /// Whether the flight began as a refresh. Loads may have joined it since.
  @inlinable
  final var isRefresh: Bool { startedAsRefresh.load(ordering: .relaxed) }

  /// Whether the pause after a failure must be kept beside memory.
  ///
  /// Memory keeps the pause with a value, which it may evict if the second tier has it. The key of a refresh may have
  /// no value or lose it. A load may have joined the refresh.
  ///
  /// - Parameter hasValue: Whether memory has an older value of the key.
  /// - Returns: Whether the pause is kept by its key.
  @usableFromInline
  final func needsPauseBesideMemory(withValue hasValue: Bool) -> Bool {
    !coversSecondTier || pausesRefreshes(withValue: hasValue)
  }

  /// Whether no requested refresh begins during the pause after a failure.
  ///
  /// The failed load of a key without a value does not prevent a refresh. With a value, its pause concerns that value.
  ///
  /// - Parameter hasValue: Whether memory has an older value of the key.
  /// - Returns: Whether requested refreshes wait for the end of the pause.
  @usableFromInline
  final func pausesRefreshes(withValue hasValue: Bool) -> Bool { isRefresh || (hasValue && !isAwaited) }
}
