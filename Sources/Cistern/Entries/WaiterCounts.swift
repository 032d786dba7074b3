import Synchronization

/// What is counted of those who wait for flights. The flights of a table share one, so that a task which waits need not
/// hold on to the table, nor come back to it.
@usableFromInline
final class WaiterCounts: Sendable {
  /// Waiters that are suspended now. Changed under the lock of the flight that they wait for.
  @usableFromInline let suspended = Atomic<Int>(0)
  /// Waiters that left because their task was cancelled, so far.
  @usableFromInline let cancelled = Atomic<Int>(0)

  @inlinable
  init() {}
}
