import Locking
import Synchronization

/// Lets one task have the store to itself: it closes the barrier, and every client stops at it before its next
/// operation.
final class Barrier: Sendable {
  private struct State {
    var members = 0
    var parked: [CheckedContinuation<Void, Never>] = []
    /// Waits until all members are parked.
    var closer: CheckedContinuation<Void, Never>?
  }

  /// Written with the state locked; read without, by every operation.
  private let closed = Atomic(false)
  private let state = Guarded(State())

  /// Whether the next thing to do is ``park()``.
  var isClosed: Bool { closed.load(ordering: .acquiring) }

  /// A client begins.
  func join() {
    state.withLock { $0.members += 1 }
  }

  /// A client is done.
  func leave() {
    let closer = state.withLock { state in
      state.members -= 1
      return Barrier.closerIfAllParked(&state)
    }
    closer?.resume()
  }

  /// Waits while the barrier is closed. Between operations only.
  func park() async {
    await withCheckedContinuation { continuation in
      let resumed = state.withLock { state -> [CheckedContinuation<Void, Never>] in
        guard closed.load(ordering: .acquiring) else { return [continuation] }
        state.parked.append(continuation)
        return Barrier.closerIfAllParked(&state).map { [$0] } ?? []
      }
      for continuation in resumed { continuation.resume() }
    }
  }

  /// Closes the barrier, and returns once no client is inside an operation. One task closes at a time.
  func close() async {
    await withCheckedContinuation { continuation in
      let closer = state.withLock { state in
        closed.store(true, ordering: .releasing)
        state.closer = continuation
        return Barrier.closerIfAllParked(&state)
      }
      closer?.resume()
    }
  }

  /// Lets the clients go on.
  func open() {
    let parked = state.withLock { state in
      closed.store(false, ordering: .releasing)
      defer { state.parked = [] }
      return state.parked
    }
    for continuation in parked { continuation.resume() }
  }

  private static func closerIfAllParked(_ state: inout State) -> CheckedContinuation<Void, Never>? {
    guard let closer = state.closer, state.parked.count == state.members else { return nil }
    state.closer = nil
    return closer
  }
}
