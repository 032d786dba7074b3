import Locking

/// A fetch's place under a flight limit. While the fetch waits for another load, it gives its place to others: else a limit
/// of 1, or one that is used up by fetches that load, would let none of them go on.
final class FetchPermit: Sendable {
  @TaskLocal private static var current: FetchPermit?

  private let gate: FlightGate
  /// The work whose fetch has the place.
  private let work: FlightWork?
  private let state = Guarded(FetchPermitState())

  private init(_ gate: FlightGate, for work: FlightWork?) {
    self.gate = gate
    self.work = work
  }

  /// Runs a fetch when it is its turn. Throws `CancellationError` if the task is cancelled before that.
  static func withPermit<Fetched>(
    of gate: FlightGate, _ fetch: () async throws -> Fetched
  ) async throws -> Fetched {
    try await gate.enter(priority: Task.currentPriority)
    let permit = FetchPermit(gate, for: FlightWork.current)
    defer { permit.end() }
    return try await $current.withValue(permit, operation: fetch)
  }

  /// The permit of this work's fetch, which the current task is a part of; nil if it has no flight limit.
  static func held(by work: FlightWork) -> FetchPermit? {
    guard let current, current.work === work else { return nil }
    return current
  }

  /// The fetch begins to wait for another load.
  func lend() {
    if state.withLock({ $0.beginWait() }) { gate.leave() }
  }

  /// A wait ends. Returns when the fetch may go on. If the task is cancelled, that is at once and without a place.
  func takeBack() async {
    guard state.withLock({ $0.endWait() }) else { return }
    let isAdmitted: Bool
    do {
      try await gate.enter(priority: Task.currentPriority, isReturning: true)
      isAdmitted = true
    } catch {
      isAdmitted = false
    }
    if state.withLock({ $0.enter(isAdmitted: isAdmitted) }) { gate.leave() }
  }

  /// The fetch has ended.
  private func end() {
    if state.withLock({ $0.end() }) { gate.leave() }
  }
}

/// Who has a fetch's place: a pure state machine. Several tasks of one fetch may wait at once.
struct FetchPermitState {
  private enum State {
    /// Once the fetch has the place, until it begins to wait.
    case held
    /// Once the fetch waits for so many loads, until the last of these waits ends; 0 if it could not return since.
    case lent(waits: Int)
    /// Once the last wait has ended, until the fetch has a place again. So many waits began since.
    case returning(waits: Int)
    /// Once the fetch has ended.
    case ended
  }

  private var state = State.held

  /// The fetch begins to wait; whether it has a place to give back.
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

  /// A wait ends; whether the fetch must ask for a place, and answer with ``enter(isAdmitted:)``.
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

  /// The fetch has a place again, or could not get one; whether the place is to be given back at once.
  mutating func enter(isAdmitted: Bool) -> Bool {
    guard case .returning(let waits) = state else { return isAdmitted }
    guard isAdmitted, waits == 0 else {
      state = .lent(waits: waits)
      return isAdmitted
    }
    state = .held
    return false
  }

  /// The fetch has ended; whether it has a place to give back.
  mutating func end() -> Bool {
    defer { state = .ended }
    if case .held = state { return true }
    return false
  }
}
