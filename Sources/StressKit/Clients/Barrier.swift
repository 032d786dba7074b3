import Locking
import Synchronization

/// A barrier that gives one task exclusive access to the store.
///
/// The task closes the barrier. Every client then stops before its next operation, until the barrier opens.
final class Barrier: Sendable {
  private struct State {
    var members = 0
    var parked: [CheckedContinuation<Void, Never>] = []
    /// The task that waits until all members are parked.
    var closer: CheckedContinuation<Void, Never>?
  }

  /// Written in the critical section of `state`. Every operation reads it without the lock.
  private let closed = Atomic(false)
  private let state = Guarded(State())

  /// Whether the client must call ``park()`` before its next operation.
  var isClosed: Bool { closed.load(ordering: .acquiring) }

  /// The number of clients that have not finished.
  var memberCount: Int { state.withLock { $0.members } }

  /// Adds a client.
  func join() {
    state.withLock { $0.members += 1 }
  }

  /// Removes a client that has finished.
  func leave() {
    let closer = state.withLock { state in
      state.members -= 1
      return Barrier.closerIfAllParked(&state)
    }
    closer?.resume()
  }

  /// Waits while the barrier is closed. A client calls it only between operations.
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

  /// Closes the barrier, and waits until no client is inside an operation. Only one task may close it at a time.
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

  /// Opens the barrier, and resumes the parked clients.
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
