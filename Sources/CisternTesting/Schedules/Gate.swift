import Locking

/// A place where tasks wait until a test lets them go on; nobody sleeps, nobody polls.
///
///     let gate = Gate()
///     origin.script(.gated(gate, .value(article)), for: "a")
///     let load = Task { try await articles.value(forKey: "a", fetch: origin.fetch) }
///     await gate.arrivals(atLeast: 1)     // the fetch is in flight
///     articles["a"] = nil                 // what the test is about
///     gate.open()
///
/// Safe from every thread. Opening resumes every task that waits.
public final class Gate: Sendable {
  private enum Position {
    /// Once closed, until opened: tasks wait here, by the number of their arrival.
    case closed(waiting: [Int: CheckedContinuation<Void, Never>])
    /// Once opened, until closed again: tasks pass.
    case open
  }

  private struct State {
    var position: Position
    var arrivals = 0
    /// Arrivals whose task was cancelled before it could wait.
    var cancelled: Set<Int> = []
    var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
  }

  private let state: Guarded<State>

  /// Creates a gate, closed unless asked otherwise.
  public init(isOpen: Bool = false) {
    state = Guarded(State(position: isOpen ? .open : .closed(waiting: [:])))
  }

  /// Lets every task pass that waits now or comes later.
  public func open() {
    let waiting = state.withLock { state -> [Int: CheckedContinuation<Void, Never>] in
      guard case .closed(let waiting) = state.position else { return [:] }
      state.position = .open
      return waiting
    }
    // In the order of arrival: a seeded schedule must not depend on a dictionary's order.
    for (_, continuation) in waiting.sorted(by: { $0.key < $1.key }) { continuation.resume() }
  }

  /// Makes tasks wait that come from now on.
  public func close() {
    state.withLock { state in
      guard case .open = state.position else { return }
      state.position = .closed(waiting: [:])
    }
  }

  /// Returns once the gate is open.
  ///
  /// - Throws: `CancellationError` as soon as the task is cancelled, though the gate is closed.
  public func pass() async throws {
    let number = arrive()
    await withTaskCancellationHandler {
      await wait(number)
    } onCancel: {
      leave(number)
    }
    try Task.checkCancellation()
  }

  /// Returns once the gate is open, whether the task is cancelled or not: for a fetch that does not heed cancellation.
  public func passUncancelled() async {
    await wait(arrive())
  }

  /// How many tasks have come to the gate so far, whether they had to wait or not.
  public var arrivalCount: Int { state.withLock { $0.arrivals } }

  /// How many tasks wait at the gate now.
  public var waitingCount: Int {
    state.withLock { state in
      if case .closed(let waiting) = state.position { waiting.count } else { 0 }
    }
  }

  /// Returns once `count` tasks have come to the gate since it was made.
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
        guard case .closed(var waiting) = state.position, state.cancelled.remove(number) == nil else { return true }
        waiting[number] = continuation
        state.position = .closed(waiting: waiting)
        return false
      }
      if passes { continuation.resume() }
    }
  }

  private func leave(_ number: Int) {
    let continuation = state.withLock { state -> CheckedContinuation<Void, Never>? in
      guard case .closed(var waiting) = state.position else { return nil }
      let continuation = waiting.removeValue(forKey: number)
      state.position = .closed(waiting: waiting)
      if continuation == nil { state.cancelled.insert(number) }
      return continuation
    }
    continuation?.resume()
  }
}
