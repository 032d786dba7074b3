/// The conditions and pauses for repeated attempts of a failed fetch. All attempts belong to one flight, whose
/// callers wait for the last one.
///
/// ```swift
/// configuration.retry = RetryPolicy(attempts: 4, initialDelay: .milliseconds(100)) { error in !(error is NotFound) }
/// ```
///
/// The pause begins with the initial delay and doubles with each attempt, up to the maximum delay. Each pause is
/// then shortened by up to half, depending on the key and the attempt. Keys that failed together are therefore not
/// fetched together again. Cancellation is never retried, and it ends a pause.
/// A call that a ``CircuitBreaker`` rejects is not retried either.
public struct RetryPolicy: Sendable {
  /// The maximum number of calls of the fetch; at least 1.
  public let attempts: Int
  /// The pause before the second attempt.
  public let initialDelay: Duration
  /// The maximum pause.
  public let maximumDelay: Duration
  /// A closure that returns whether a fetch that failed with an error is attempted again. Called outside all locks.
  public let isRetryable: @Sendable (any Error) -> Bool

  /// Creates a policy.
  ///
  /// - Parameters:
  ///   - attempts: The maximum number of calls of the fetch. Less than 1 counts as 1.
  ///   - initialDelay: The pause before the second attempt. A negative duration counts as zero.
  ///   - maximumDelay: The maximum pause. At least the initial delay.
  ///   - isRetryable: Returns whether a fetch that failed with an error is attempted again. Called outside all
  ///     locks.
  public init(
    attempts: Int = 3, initialDelay: Duration = .milliseconds(100), maximumDelay: Duration = .seconds(10),
    isRetryable: @escaping @Sendable (any Error) -> Bool = { _ in true }
  ) {
    self.attempts = max(1, attempts)
    self.initialDelay = max(.zero, initialDelay)
    self.maximumDelay = max(max(.zero, initialDelay), maximumDelay)
    self.isRetryable = isRetryable
  }

  /// Returns the pause after the given attempt for a key with this hash, in nanoseconds.
  func delay(afterAttempt attempt: Int, hash: UInt64) -> UInt64 {
    let initial = initialDelay.countedNanoseconds
    let (doubled, overflow) = initial.multipliedReportingOverflow(by: 1 << UInt64(min(attempt - 1, 62)))
    let full = min(overflow ? .max : doubled, maximumDelay.countedNanoseconds)
    // A factor from one half to one, determined by the key and the attempt, so that no schedule depends on random
    // numbers.
    let share = ((hash &+ UInt64(attempt)) &* 0x9e37_79b9_7f4a_7c15) >> 49
    return full / 2 + Expiry.part(share << 1, of: full / 2)
  }

  /// Returns whether the fetch is called again after the given attempt failed with `error`.
  func retries(_ error: any Error, attempt: Int) -> Bool {
    attempt < attempts && !(error is CancellationError) && !CircuitRejection.isCause(of: error) && isRetryable(error)
  }
}
