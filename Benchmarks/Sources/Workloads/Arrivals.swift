import Synchronization

/// Counts arrivals of tasks, and lets one task wait until the last has arrived.
package final class Arrivals: Sendable {
  private struct State {
    var missing: Int
    var waiting: UnsafeContinuation<Void, Never>?
  }

  private let state: Mutex<State>

  package init(_ count: Int) {
    state = Mutex(State(missing: count))
  }

  /// Records an arrival. Returns true for the last one.
  @discardableResult
  package func arrive() -> Bool {
    let (isLast, waiting) = state.withLock { state in
      state.missing -= 1
      guard state.missing == 0 else { return (false, UnsafeContinuation<Void, Never>?.none) }
      defer { state.waiting = nil }
      return (true, state.waiting)
    }
    waiting?.resume()
    return isLast
  }

  package func all() async {
    await withUnsafeContinuation { continuation in
      let isOver = state.withLock { state in
        if state.missing > 0 { state.waiting = continuation }
        return state.missing <= 0
      }
      if isOver { continuation.resume() }
    }
  }
}
