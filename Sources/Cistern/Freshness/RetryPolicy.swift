/// Whether and when a fetch that failed is tried again, within its flight: its callers wait for the last attempt.
///
/// ```swift
/// configuration.retry = RetryPolicy(attempts: 4, initialDelay: .milliseconds(100)) { error in !(error is NotFound) }
/// ```
///
/// The pause before an attempt is the initial delay, doubled with each attempt before it up to the longest, and then
/// shortened by up to half, differently for each key and attempt, so that keys which failed together are not tried
/// together. Cancellation is never tried again, and ends a pause.
public struct RetryPolicy: Sendable {
  /// How often the fetch is called at most; at least 1.
  public let attempts: Int
  /// The pause before the second attempt.
  public let initialDelay: Duration
  /// The longest pause.
  public let maximumDelay: Duration
  /// Whether a fetch that failed with this error is worth another attempt. Called outside all locks.
  public let isRetryable: @Sendable (any Error) -> Bool

  /// Creates a policy. Fewer than one attempt counts as one, and a negative delay as none.
  public init(
    attempts: Int = 3, initialDelay: Duration = .milliseconds(100), maximumDelay: Duration = .seconds(10),
    isRetryable: @escaping @Sendable (any Error) -> Bool = { _ in true }
  ) {
    self.attempts = max(1, attempts)
    self.initialDelay = max(.zero, initialDelay)
    self.maximumDelay = max(max(.zero, initialDelay), maximumDelay)
    self.isRetryable = isRetryable
  }

  /// Nanoseconds to pause after so many failed attempts, for a key with this hash.
  func delay(afterAttempt attempt: Int, hash: UInt64) -> UInt64 {
    let initial = initialDelay.countedNanoseconds
    let (doubled, overflow) = initial.multipliedReportingOverflow(by: 1 << UInt64(min(attempt - 1, 62)))
    let full = min(overflow ? .max : doubled, maximumDelay.countedNanoseconds)
    // A share between a half and the whole, by key and attempt: no schedule depends on chance.
    let share = ((hash &+ UInt64(attempt)) &* 0x9e37_79b9_7f4a_7c15) >> 49
    return full / 2 + Expiry.part(share << 1, of: full / 2)
  }

  /// Whether the fetch is called again after it failed with `error` for the time `attempt`.
  func retries(_ error: any Error, attempt: Int) -> Bool {
    attempt < attempts && !(error is CancellationError) && isRetryable(error)
  }
}
