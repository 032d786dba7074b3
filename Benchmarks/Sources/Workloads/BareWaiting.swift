import Synchronization

/// The reference of joins: tasks that each wait on a bare continuation, with a cancellation handler, until a door
/// opens.
package final class BareWaiting: Sendable {
  private struct State {
    var isOpen = false
    var waiters: [UnsafeContinuation<Void, any Error>?]
  }

  private let state: Mutex<State>

  package init(capacity: Int) {
    state = Mutex(State(waiters: Array(repeating: nil, count: capacity)))
  }

  package func wait(as number: Int) async throws {
    try await withTaskCancellationHandler {
      try await withUnsafeThrowingContinuation { continuation in
        let isOpen = state.withLock { state in
          if !state.isOpen { state.waiters[number] = continuation }
          return state.isOpen
        }
        if isOpen { continuation.resume() }
      }
    } onCancel: {
      let waiter = state.withLock { state in
        defer { state.waiters[number] = nil }
        return state.waiters[number]
      }
      waiter?.resume(throwing: CancellationError())
    }
  }

  package func open() {
    let waiters = state.withLock { state in
      state.isOpen = true
      let waiters = state.waiters
      for index in state.waiters.indices { state.waiters[index] = nil }
      return waiters
    }
    for case let waiter? in waiters { waiter.resume() }
  }
}
