/// The limits of a wait: timeouts, and an older value that may be returned. Only loads with such limits allocate
/// this object, so that the frames of all others stay small (``Flight/wait(as:)``).
@usableFromInline
final class WaitLimits<Value: Sendable>: Sendable {
  let policy: LoadPolicy
  /// The time when the load began to wait, in this attempt or an earlier one. Timeouts count from it.
  let start: MonotonicTime
  /// The newest invalidation version at the look-up. The load must not receive the result of a flight that an
  /// invalidation up to this version concerns.
  let invalidationVersion: InvalidationVersion
  /// The older value; nil if none may be returned.
  let fallback: Fallback<Value>?
  /// The fetch that this load is a part of; nil outside of fetches.
  let fetch: WorkIdentity?

  init(
    policy: LoadPolicy, start: MonotonicTime, invalidationVersion: InvalidationVersion,
    fallback: Fallback<Value>? = nil
  ) {
    self.policy = policy
    self.start = start
    self.invalidationVersion = invalidationVersion
    self.fallback = fallback
    fetch = WorkIdentity.enclosing
  }

  /// The end of the soft timeout; nil if no older value may be returned at that time.
  var softDeadline: MonotonicTime? {
    guard fallback != nil, policy.softTimeout != .max, policy.softTimeout <= policy.timeout else { return nil }
    return start.advanced(by: policy.softTimeout)
  }

  /// The end of the timeout; nil for none.
  var deadline: MonotonicTime? { policy.timeout == .max ? nil : start.advanced(by: policy.timeout) }
}
