import Locking

/// Counts the fetches of a cache that run at one time: never more than its limit.
final class OriginLoad: Sendable {
  private struct State {
    var running = 0
    var peak = 0
  }

  private let limit: Int
  private let violations: ViolationLog
  private let state = Guarded(State())

  init(limit: Int, violations: ViolationLog) {
    self.limit = limit
    self.violations = violations
  }

  /// The most that ran at one time.
  var peak: Int { state.withLock { $0.peak } }

  /// Counts what runs in `body`.
  func run<Result>(_ body: () async throws -> Result) async rethrows -> Result {
    let running = state.withLock { state in
      state.running += 1
      state.peak = max(state.peak, state.running)
      return state.running
    }
    defer { state.withLock { $0.running -= 1 } }
    if running > limit { violations.report(.overLimit, "\(running) fetches ran at one time, with a limit of \(limit)") }
    return try await body()
  }
}
