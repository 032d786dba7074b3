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
    if state.withLock({ $0.beginWait() }) { limiter.leave() }
  }

  /// Ends a wait, and takes the permit back if it was the fetch's last wait.
  ///
  /// Returns when the fetch may continue: at once if the fetch has other waits. A cancelled task returns at once
  /// without a permit.
  func takeBack() async {
    guard state.withLock({ $0.endWait() }) else { return }
    let isAdmitted: Bool
    do {
      try await limiter.enter(priority: Task.currentPriority, isReturning: true)
      isAdmitted = true
    } catch {
      isAdmitted = false
    }
    if state.withLock({ $0.enter(isAdmitted: isAdmitted) }) { limiter.leave() }
  }

  /// Releases the permit, because the fetch has ended.
  private func end() {
    if state.withLock({ $0.end() }) { limiter.leave() }
  }
}

/// The state of a fetch's permit: a pure state machine. Several tasks of one fetch may wait at the same time.
struct FetchPermitState {
  private enum State {
    /// The fetch holds the permit. The state ends when the fetch begins to wait.
    case held
    /// The fetch waits for this number of loads, and the permit is lent.
    ///
    /// The number is zero if the fetch failed to take the permit back.
    case lent(waits: Int)
    /// The last wait has ended, and the fetch waits for a permit. This number of waits began since.
    case returning(waits: Int)
    /// The fetch has ended.
    case ended
  }

  private var state = State.held

  /// Begins a wait. Returns whether the caller must release the permit.
  mutating func beginWait() -> Bool {
    switch state {
    case .held:
      state = .lent(waits: 1)
      return true
    case .lent(let waits):
      state = .lent(waits: waits + 1)
    case .returning(let waits):
      state = .returning(waits: waits + 1)
    case .ended:
      break
    }
    return false
  }

  /// Ends a wait. Returns whether the caller must request a permit and report the result with ``enter(isAdmitted:)``.
  mutating func endWait() -> Bool {
    switch state {
    case .lent(waits: 1):
      state = .returning(waits: 0)
      return true
    case .lent(let waits):
      state = .lent(waits: waits - 1)
    case .returning(let waits):
      state = .returning(waits: waits - 1)
    case .held, .ended:
      break
    }
    return false
  }

  /// Notes the result of the request for a permit. Returns whether the caller must release the permit at once.
  mutating func enter(isAdmitted: Bool) -> Bool {
    guard case .returning(let waits) = state else { return isAdmitted }
    guard isAdmitted, waits == 0 else {
      state = .lent(waits: waits)
      return isAdmitted
    }
    state = .held
    return false
  }

  /// Ends the fetch. Returns whether the caller must release the permit.
  mutating func end() -> Bool {
    defer { state = .ended }
    if case .held = state { return true }
    return false
  }
}
