import Locking

/// The permit of one fetch under a fetch limiter.
///
/// A fetch that waits for another load lends its permit to other fetches. Otherwise, fetches that load other keys
/// could hold all permits and wait for each other forever.
final class FetchPermit: Sendable {
  @TaskLocal private static var current: FetchPermit?

  private let limiter: FetchLimiter
  /// The work whose fetch holds the permit.
  private let work: WorkIdentity?
  private let state = Guarded(FetchPermitState())

  private init(_ limiter: FetchLimiter, for work: WorkIdentity?) {
    self.limiter = limiter
    self.work = work
  }

  /// Waits for a permit, and runs a fetch with it. Throws `CancellationError` if the task is cancelled while it
  /// waits.
  static func withPermit<Fetched>(
    of limiter: FetchLimiter, _ fetch: () async throws -> Fetched
  ) async throws -> Fetched {
    try await limiter.enter(priority: Task.currentPriority)
    let permit = FetchPermit(limiter, for: WorkIdentity.enclosing)
    defer { permit.end() }
    return try await $current.withValue(permit, operation: fetch)
  }

  /// Returns the permit of this work's fetch.
  ///
  /// Nil if the fetch has no limiter, or if the current task is not part of it.
  static func held(by work: WorkIdentity) -> FetchPermit? {
    guard let current, current.work == work else { return nil }
    return current
  }

  /// Lends the permit, because the fetch begins to wait for another load.
  func lend() {
    if state.withLock({ $0.beginWait() }) == .release { limiter.leave() }
  }

  /// Ends a wait, and takes the permit back if it was the fetch's last wait.
  ///
  /// Returns when the fetch may continue: at once if the fetch has other waits. A cancelled task returns at once
  /// without a permit.
  func takeBack() async {
    guard state.withLock({ $0.endWait() }) == .request else { return }
    let isAdmitted: Bool
    do {
      try await limiter.enter(priority: Task.currentPriority, isReturning: true)
      isAdmitted = true
    } catch {
      isAdmitted = false
    }
    if state.withLock({ $0.enter(isAdmitted: isAdmitted) }) == .release { limiter.leave() }
  }

  /// Releases the permit, because the fetch has ended.
  private func end() {
    if state.withLock({ $0.end() }) == .release { limiter.leave() }
  }
}
