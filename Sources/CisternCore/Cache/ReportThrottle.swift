import Locking

/// Admits one report in ten seconds, and counts the others.
package final class ReportThrottle: Sendable {
  private struct State: Sendable {
    var next = MonotonicTime(nanoseconds: 0)
    var skipped = 0
  }

  private static let interval: UInt64 = 10_000_000_000

  private let state = Guarded(State())

  package init() {}

  /// Returns the number of reports that were skipped since the last one; nil if this one must be skipped, too.
  package func admit(at now: MonotonicTime) -> Int? {
    state.withLock { state in
      guard now >= state.next else {
        state.skipped += 1
        return nil
      }
      defer { state.skipped = 0 }
      state.next = now.advanced(by: Self.interval)
      return state.skipped
    }
  }
}
