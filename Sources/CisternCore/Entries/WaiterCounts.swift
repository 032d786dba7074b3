import Synchronization

/// The counts of the waiters of flights.
///
/// All flights of a table share one object, so that a waiting task need not hold or access the table.
@usableFromInline
final class WaiterCounts: Sendable {
  /// The number of suspended waiters. Changed under the lock of the flight that they wait for.
  @usableFromInline let suspended = Atomic<Int>(0)
  /// The number of waiters that have left because their task was cancelled.
  @usableFromInline let cancelled = Atomic<Int>(0)

  @inlinable
  init() {}
}
