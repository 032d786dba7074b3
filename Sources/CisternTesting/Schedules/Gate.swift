import Locking

/// A gate at which tasks wait until a test opens it, without sleeping or polling.
///
///     let gate = Gate()
///     origin.script(.gated(gate, .value(article)), for: "a")
///     let load = Task { try await articles.value(forKey: "a", fetch: origin.fetch) }
///     await gate.arrivals(atLeast: 1)     // the fetch is in flight
///     articles["a"] = nil                 // the operation under test
///     gate.open()
///
/// Every thread can use the gate. Opening it resumes all waiting tasks.
public final class Gate: Sendable {
  private enum Position {
    /// Tasks wait. The keys are the numbers of their arrivals.
    case closed(waiting: [Int: CheckedContinuation<Void, Never>])
    /// Tasks pass.
    case open
  }

  private struct State {
    var position: Position
    var arrivals = 0
    /// The arrivals whose task has not waited yet, and was not cancelled.
    var arriving: Set<Int> = []
    var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
  }

  private let state: Guarded<State>

  /// Creates a gate.
  ///
  /// - Parameter isOpen: Whether the gate is open at first.
  public init(isOpen: Bool = false) {
    state = Guarded(State(position: isOpen ? .open : .closed(waiting: [:])))
  }

  /// Opens the gate. All waiting tasks continue, and later tasks pass.
  public func open() {
    let waiting = state.withLock { state -> [Int: CheckedContinuation<Void, Never>] in
      guard case .closed(let waiting) = state.position else { return [:] }
      state.position = .open
      return waiting
    }
    // The order of arrival: a seeded schedule must not depend on the order of a dictionary.
    for (_, continuation) in waiting.sorted(by: { $0.key < $1.key }) { continuation.resume() }
  }

  /// Closes the gate. Later tasks wait until it opens again.
  public func close() {
    state.withLock { state in
      guard case .open = state.position else { return }
      state.position = .closed(waiting: [:])
    }
  }

  /// Waits until the gate is open.
  ///
  /// - Throws: `CancellationError` when the task is cancelled, even if the gate is still closed.
  public func pass() async throws {
    let number = arrive()
    await withTaskCancellationHandler {
      await wait(number)
    } onCancel: {
      leave(number)
    }
    try Task.checkCancellation()
  }

  /// Waits until the gate is open, and ignores cancellation: a cancelled task also waits until the gate is open. Use it
  /// for a fetch that does not respond to cancellation.
  public func passUncancelled() async {
    await wait(arrive())
  }

  /// The number of tasks that have arrived at the gate so far, including those that did not have to wait.
  public var arrivalCount: Int { state.withLock { $0.arrivals } }

  /// The number of tasks that wait at the gate now.
  public var waitingCount: Int {
    state.withLock { state in
      if case .closed(let waiting) = state.position { waiting.count } else { 0 }
    }
  }

  /// Waits until a number of tasks have arrived at the gate since its creation.
  ///
  /// The wait ignores cancellation: a cancelled task also waits until the tasks have arrived.
  ///
  /// - Parameter count: The number of arrivals.
  public func arrivals(atLeast count: Int) async {
    await withCheckedContinuation { continuation in
      let isReached = state.withLock { state in
        if state.arrivals >= count { return true }
        state.watchers.append((count, continuation))
        return false
      }
      if isReached { continuation.resume() }
    }
  }

  private func arrive() -> Int {
    let (number, reached) = state.withLock { state in
      state.arrivals += 1
      state.arriving.insert(state.arrivals)
      let arrivals = state.arrivals
      let reached = state.watchers.filter { $0.count <= arrivals }
      state.watchers.removeAll { $0.count <= arrivals }
      return (arrivals, reached)
    }
    for watcher in reached { watcher.continuation.resume() }
    return number
  }

  private func wait(_ number: Int) async {
    await withCheckedContinuation { continuation in
      let passes = state.withLock { state in
        let isCancelled = state.arriving.remove(number) == nil
        guard !isCancelled, case .closed(var waiting) = state.position else { return true }
        waiting[number] = continuation
        state.position = .closed(waiting: waiting)
        return false
      }
      if passes { continuation.resume() }
    }
  }

  private func leave(_ number: Int) {
    let continuation = state.withLock { state -> CheckedContinuation<Void, Never>? in
      state.arriving.remove(number)
      guard case .closed(var waiting) = state.position else { return nil }
      let continuation = waiting.removeValue(forKey: number)
      state.position = .closed(waiting: waiting)
      return continuation
    }
    continuation?.resume()
  }
}
