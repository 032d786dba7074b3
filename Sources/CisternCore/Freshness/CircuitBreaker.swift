/// The conditions under which a cache stops calling an origin that fails, and calls it again.
///
/// ```swift
/// configuration.circuitBreaker = CircuitBreaker(
///   opensAfter: .failureShare(0.5, minimumCalls: 20, within: .seconds(10))
/// ) { error in !(error is NotFound) }
/// ```
///
/// The breaker is closed at first: every fetch is called. When calls fail as the threshold says, the breaker opens. A
/// load that must fetch then gets its stale value as after a failure, or throws ``CisternError/Code/circuitOpen``.
/// After the open time, the breaker is half-open: it permits a limited number of calls, the probes. It closes when all
/// of them succeed. If one fails, it opens again for twice the time, up to a maximum.
///
/// - Each call of the fetch counts, also each attempt of a ``RetryPolicy``. The fetch of a bulk load is one call.
/// - A cancelled call counts neither as a success nor as a failure.
/// - A call that began before the breaker changed its state does not count after the change.
/// - If all probes are in progress or have succeeded when the open time of the newest one has passed, a further call
///   replaces them. They count as one failed probe, and the breaker stays half-open.
/// - A load inside the fetch of a probe is part of the probe. A background refresh that it starts is not.
///
/// All keys of a cache share one breaker.
public struct CircuitBreaker: Sendable {
  /// The failures after which a closed breaker opens.
  public struct Threshold: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
      case consecutiveFailures(Int)
      case failureShare(Double, minimumCalls: Int, window: Duration)
    }

    let kind: Kind

    /// Returns the threshold of a number of failures without a success between them.
    ///
    /// - Parameter count: The number of failures, at least 1.
    /// - Returns: The threshold.
    public static func consecutiveFailures(_ count: Int) -> Threshold {
      Threshold(kind: .consecutiveFailures(count))
    }

    /// Returns the threshold of a share of failures in the most recent calls.
    ///
    /// - Parameters:
    ///   - share: The share of the calls that fail, above 0 and at most 1.
    ///   - minimumCalls: The number of calls in the window below which the breaker stays closed; at least 1.
    ///   - window: The length of the window. A call counts for nine tenths of it at least.
    /// - Returns: The threshold.
    public static func failureShare(
      _ share: Double, minimumCalls: Int = 10, within window: Duration = .seconds(10)
    ) -> Threshold {
      Threshold(kind: .failureShare(share, minimumCalls: minimumCalls, window: window))
    }
  }

  /// The state of a breaker.
  public enum State: Sendable, Hashable {
    /// Every fetch is called.
    case closed
    /// No fetch is called.
    case open
    /// A limited number of fetches is called.
    case halfOpen
  }

  /// The failures after which a closed breaker opens.
  public var threshold: Threshold
  /// The time that the breaker stays open at first. It doubles with each failed probe.
  public var openDuration: Duration
  /// The longest time that the breaker stays open; at least ``openDuration``.
  public var maximumOpenDuration: Duration
  /// The number of calls that a half-open breaker permits. It closes when this number succeeded; at least 1.
  public var probeCount: Int
  /// Whether an error counts as a failure of the origin. Any other error counts as a success, because the origin
  /// answered. Called outside all locks. Never called with a `CancellationError`.
  public var isFailure: @Sendable (any Error) -> Bool

  /// Creates the settings of a breaker. Opening a cache with invalid settings throws.
  ///
  /// - Parameters:
  ///   - threshold: The failures after which a closed breaker opens.
  ///   - openDuration: The time that the breaker stays open at first.
  ///   - maximumOpenDuration: The longest time that the breaker stays open.
  ///   - probeCount: The number of calls that a half-open breaker permits.
  ///   - isFailure: Returns whether an error counts as a failure of the origin.
  public init(
    opensAfter threshold: Threshold = .failureShare(0.5), openDuration: Duration = .seconds(1),
    maximumOpenDuration: Duration = .seconds(60), probeCount: Int = 1,
    isFailure: @escaping @Sendable (any Error) -> Bool = { _ in true }
  ) {
    self.threshold = threshold
    self.openDuration = openDuration
    self.maximumOpenDuration = maximumOpenDuration
    self.probeCount = probeCount
    self.isFailure = isFailure
  }
}

extension CircuitBreaker {
  /// A sentence about the first invalid setting, with the allowed values; nil if all are valid.
  var problem: String? {
    if let problem = threshold.problem { return problem }
    if openDuration <= .zero { return "circuitBreaker.openDuration is \(openDuration); it must be above zero" }
    if maximumOpenDuration < openDuration {
      return "circuitBreaker.maximumOpenDuration is \(maximumOpenDuration); "
        + "it must be at least openDuration, \(openDuration)"
    }
    if probeCount < 1 { return "circuitBreaker.probeCount is \(probeCount); it must be at least 1" }
    return nil
  }
}

extension CircuitBreaker.Threshold {
  fileprivate var problem: String? {
    switch kind {
    case .consecutiveFailures(let count):
      return count < 1 ? "circuitBreaker.threshold has \(count) consecutive failures; it must have at least 1" : nil
    case .failureShare(let share, let minimumCalls, let window):
      if !(share > 0 && share <= 1) {
        return "circuitBreaker.threshold has a failure share of \(share); it must be above 0 and at most 1"
      }
      if minimumCalls < 1 {
        return "circuitBreaker.threshold has a minimum of \(minimumCalls) calls; it must be at least 1"
      }
      return window <= .zero ? "circuitBreaker.threshold has a window of \(window); it must be above zero" : nil
    }
  }
}

extension CircuitBreaker.Threshold: CustomStringConvertible {
  /// The threshold in words.
  public var description: String {
    switch kind {
    case .consecutiveFailures(let count): "\(count) consecutive failures"
    case .failureShare(let share, let minimumCalls, let window):
      "a failure share of \(share) in \(window), with at least \(minimumCalls) calls"
    }
  }
}
