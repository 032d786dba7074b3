import Locking

/// The mailbox of a closure: unbounded, and emptied by a job that runs while changes wait.
///
/// The job runs on a thread for handlers, or in a task if the user chose an executor. A handler that blocks a thread delays
/// no other observer, as long as further threads are available.
final class HandlerMailbox: Mailbox {
  typealias Handler = @Sendable (ErasedChange) -> Void

  private struct State {
    var changes: HandlerState
    /// Nil once ended, so that what it holds on to is let go of.
    var handler: Handler?
  }

  private let state: Guarded<State>
  private let execution: HandlerExecution

  init(on execution: HandlerExecution, handler: @escaping Handler) {
    self.execution = execution
    state = Guarded(State(changes: .idle(ChangeBuffer(.unbounded)), handler: handler))
  }

  func append(_ change: ErasedChange) -> Bool {
    state.withLock { $0.changes.append(change) }
  }

  func attend() {
    guard state.withLock({ $0.changes.start() }) else { return }
    switch execution {
    case .threads: HandlerThreads.shared.run { self.tellSome() }
    // Detached: which of the writers starts it is chance, and so would be the priority and the task-local values.
    case .executor(let executor):
      Task.detached(executorPreference: executor) { await self.tell() }
    case .mainActor: Task.detached { await self.tellOnMainActor() }
    }
  }

  func finish() {}

  func end() {
    // Freed on return, outside the lock.
    _ = state.withLock { state in
      defer { state.handler = nil }
      return (state.changes.end(), state.handler)
    }
  }

  private func tell() async {
    while tellSome() { await Task.yield() }
  }

  @MainActor
  private func tellOnMainActor() async {
    while tellSome() { await Task.yield() }
  }

  /// Calls the handler with some changes. Between these parts, other handlers have the thread.
  ///
  /// - Returns: whether more changes may wait.
  private func tellSome() -> Bool {
    for _ in 0..<32 {
      guard let (change, handler) = next() else { return false }
      handler(change)
    }
    return true
  }

  private func next() -> (ErasedChange, Handler)? {
    state.withLock { state in
      guard let handler = state.handler, let change = state.changes.next() else { return nil }
      return (change, handler)
    }
  }
}
