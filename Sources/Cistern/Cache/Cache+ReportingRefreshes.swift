import Locking

extension Cache {
  /// Reports the failure of a flight that no caller waits for: one that began in the background.
  @usableFromInline
  func reportIfUnheard(_ flight: Flight<Value>, forKey key: Key, _ error: any Error) {
    if !flight.isAwaited { reportFailedRefresh(ofKey: key, error) }
  }

  /// Reports that a fetch failed whose callers got an older value: no caller hears of the error.
  func reportFailedRefresh(ofKey key: Key, _ error: any Error) {
    guard !(error is CancellationError), let others = refreshReports.admit(at: clock.now()) else { return }
    let addition = others == 0 ? "" : "; \(others) other refreshes failed since the last report"
    report(
      StoreReport(
        .refreshFailed, "a value could not be fetched anew; callers get the older one until its grace ends\(addition)",
        location: location(of: key), cause: error))
  }
}

/// Admits one report in ten seconds, and counts the others.
@usableFromInline
final class ReportThrottle: Sendable {
  private struct State: Sendable {
    var next = MonotonicTime(nanoseconds: 0)
    var skipped = 0
  }

  private static let interval: UInt64 = 10_000_000_000

  private let state = Guarded(State())

  /// The number of reports that were left out since the last one, if there may be another one now; else nil.
  func admit(at now: MonotonicTime) -> Int? {
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
