import Locking

/// The check that the number of concurrent fetches of a cache stays within its limit.
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

  /// The maximum number of concurrent fetches.
  var peak: Int { state.withLock { $0.peak } }

  /// Runs a fetch, and counts it while it runs.
  func run<Result>(_ body: () async throws -> Result) async rethrows -> Result {
    let running = state.withLock { state in
      state.running += 1
      state.peak = max(state.peak, state.running)
      return state.running
    }
    defer { state.withLock { $0.running -= 1 } }
    if running > limit { violations.report(.overLimit, "\(running) concurrent fetches, with a limit of \(limit)") }
    return try await body()
  }
}
