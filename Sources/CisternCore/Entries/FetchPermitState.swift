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

  /// The work of the caller after a transition.
  enum Action: Sendable, Hashable {
    case nothing
    /// Releases the permit.
    case release
    /// Requests a permit, and reports the result with ``FetchPermitState/enter(isAdmitted:)``.
    case request
  }

  private var state = State.held

  /// Begins a wait.
  mutating func beginWait() -> Action {
    switch state {
    case .held:
      state = .lent(waits: 1)
      return .release
    case .lent(let waits):
      state = .lent(waits: waits + 1)
    case .returning(let waits):
      state = .returning(waits: waits + 1)
    case .ended:
      break
    }
    return .nothing
  }

  /// Ends a wait.
  mutating func endWait() -> Action {
    switch state {
    case .lent(waits: 1):
      state = .returning(waits: 0)
      return .request
    case .lent(let waits):
      state = .lent(waits: waits - 1)
    case .returning(let waits):
      state = .returning(waits: waits - 1)
    case .held, .ended:
      break
    }
    return .nothing
  }

  /// Takes the requested permit, or continues without one. A permit that the fetch does not need any more is released.
  mutating func enter(isAdmitted: Bool) -> Action {
    let unneeded: Action = isAdmitted ? .release : .nothing
    guard case .returning(let waits) = state else { return unneeded }
    guard isAdmitted, waits == 0 else {
      state = .lent(waits: waits)
      return unneeded
    }
    state = .held
    return .nothing
  }

  /// Ends the fetch.
  mutating func end() -> Action {
    defer { state = .ended }
    if case .held = state { return .release }
    return .nothing
  }
}
