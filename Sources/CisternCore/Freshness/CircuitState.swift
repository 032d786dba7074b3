/// The state of a circuit breaker: a pure state machine. Times must not go back.
struct CircuitState: Sendable {
  enum Phase: Sendable, Equatable {
    case closed
    case open(until: MonotonicTime)
    /// Some probes are in progress, and some have succeeded. If no further probe may begin when the time ends, those in
    /// progress count as failed.
    case halfOpen(inProgress: Int, succeeded: Int, until: MonotonicTime)

    var state: CircuitBreaker.State {
      switch self {
      case .closed: .closed
      case .open: .open
      case .halfOpen: .halfOpen
      }
    }
  }

  /// An admitted call. Pass it to ``end(_:with:at:)``.
  struct Call: Sendable, Equatable {
    let generation: CircuitGeneration
    let isProbe: Bool
  }

  /// The answer to a request for a call.
  enum Admission: Sendable, Equatable {
    case admitted(Call)
    case rejected(Rejection)
  }

  /// The time at which a rejected call is permitted.
  struct Rejection: Sendable, Equatable {
    let end: MonotonicTime
    /// Whether a call is permitted earlier if a probe in progress ends earlier.
    let isProbing: Bool
  }

  enum Result: Sendable {
    case success
    case failure
    /// The call was cancelled.
    case cancelled
  }

  /// A change of the state.
  struct Transition: Sendable, Equatable {
    let from: CircuitBreaker.State
    let to: CircuitBreaker.State
  }

  private let threshold: CircuitBreaker.Threshold
  private let openDuration: UInt64
  private let maximumOpenDuration: UInt64
  private let probeCount: Int

  private(set) var phase = Phase.closed
  private(set) var generation = CircuitGeneration()
  private var window: CallWindow
  /// The number of failures since the last success, in the closed state.
  private var consecutiveFailures = 0
  /// The number of failed probes since the breaker was closed.
  private var failedProbes: UInt64 = 0

  init(_ breaker: CircuitBreaker) {
    threshold = breaker.threshold
    openDuration = breaker.openDuration.countedNanoseconds
    maximumOpenDuration = breaker.maximumOpenDuration.countedNanoseconds
    probeCount = breaker.probeCount
    window = CallWindow(length: threshold.windowNanoseconds)
  }

  /// Returns the reason for which a call would be rejected at this time; nil if it would be admitted.
  func rejection(at now: MonotonicTime) -> Rejection? {
    switch phase {
    case .closed: nil
    case .open(let end): now < end ? Rejection(end: end, isProbing: false) : nil
    case .halfOpen(let inProgress, let succeeded, let end):
      inProgress + succeeded >= probeCount && now < end ? Rejection(end: end, isProbing: true) : nil
    }
  }

  /// Requests a call. An admitted call must be ended.
  mutating func begin(at now: MonotonicTime) -> (admission: Admission, transition: Transition?) {
    if let rejection = rejection(at: now) { return (.rejected(rejection), nil) }
    var transition: Transition?
    switch phase {
    case .closed:
      return (.admitted(Call(generation: generation, isProbe: false)), nil)
    case .open:
      transition = change(to: .halfOpen(inProgress: 1, succeeded: 0, until: probeEnd(from: now)))
    case .halfOpen(let inProgress, let succeeded, _) where inProgress + succeeded < probeCount:
      phase = .halfOpen(inProgress: inProgress + 1, succeeded: succeeded, until: probeEnd(from: now))
    case .halfOpen:
      // The probes hang.
      failedProbes += 1
      transition = change(to: .halfOpen(inProgress: 1, succeeded: 0, until: probeEnd(from: now)))
    }
    return (.admitted(Call(generation: generation, isProbe: true)), transition)
  }

  /// Ends a call. A result from before the last state change has no effect.
  mutating func end(_ call: Call, with result: Result, at now: MonotonicTime) -> Transition? {
    guard call.generation == generation else { return nil }
    switch (phase, result) {
    case (.open, _), (.closed, .cancelled):
      return nil
    case (.closed, .success):
      consecutiveFailures = 0
      if threshold.usesWindow { window.add(isFailure: false, at: now) }
      return nil
    case (.closed, .failure):
      consecutiveFailures += 1
      if threshold.usesWindow { window.add(isFailure: true, at: now) }
      return isExceeded(at: now) ? change(to: .open(until: probeEnd(from: now))) : nil
    case (.halfOpen(let inProgress, let succeeded, let end), .cancelled):
      phase = .halfOpen(inProgress: inProgress - 1, succeeded: succeeded, until: end)
      return nil
    case (.halfOpen(let inProgress, let succeeded, let end), .success):
      if succeeded + 1 >= probeCount { return change(to: .closed) }
      phase = .halfOpen(inProgress: inProgress - 1, succeeded: succeeded + 1, until: end)
      return nil
    case (.halfOpen, .failure):
      failedProbes += 1
      return change(to: .open(until: probeEnd(from: now)))
    }
  }

  private func isExceeded(at now: MonotonicTime) -> Bool {
    switch threshold.kind {
    case .consecutiveFailures(let count):
      return consecutiveFailures >= count
    case .failureShare(let share, let minimumCalls, _):
      let counts = window.counts(at: now)
      return counts.calls >= minimumCalls && Double(counts.failures) >= share * Double(counts.calls)
    }
  }

  /// Returns the end of the open time that begins now.
  private func probeEnd(from now: MonotonicTime) -> MonotonicTime {
    let (doubled, overflow) = openDuration.multipliedReportingOverflow(by: 1 << min(failedProbes, 62))
    return now.advanced(by: overflow ? maximumOpenDuration : min(doubled, maximumOpenDuration))
  }

  /// Changes the phase. Returns nil if the state for observers is the same.
  private mutating func change(to next: Phase) -> Transition? {
    let transition = Transition(from: phase.state, to: next.state)
    phase = next
    generation.raise()
    if case .closed = next {
      failedProbes = 0
      consecutiveFailures = 0
      window = CallWindow(length: threshold.windowNanoseconds)
    }
    return transition.from == transition.to ? nil : transition
  }
}

extension CircuitBreaker.Threshold {
  fileprivate var usesWindow: Bool { if case .failureShare = kind { true } else { false } }

  /// The length of the window; zero for a threshold without one.
  fileprivate var windowNanoseconds: UInt64 {
    if case .failureShare(_, _, let window) = kind { window.countedNanoseconds } else { 0 }
  }
}
