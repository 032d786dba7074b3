import Locking

/// The mailbox of a closure: unbounded, and emptied by a task that lives while there is something to tell.
///
/// Whatever the handler does, it does it on that task: a slow one holds up nobody but itself.
final class HandlerMailbox: Mailbox {
  typealias Handler = @Sendable (ErasedChange) -> Void

  private struct State {
    var changes: HandlerState
    /// Nil once ended, so that what it holds on to is let go of.
    var handler: Handler?
  }

  private let state: Guarded<State>
  private let taskExecutor: (any TaskExecutor)?

  init(taskExecutor: (any TaskExecutor)?, handler: @escaping Handler) {
    self.taskExecutor = taskExecutor
    state = Guarded(State(changes: .idle(ChangeBuffer(.unbounded)), handler: handler))
  }

  func append(_ change: ErasedChange) -> Bool {
    state.withLock { $0.changes.append(change) }
  }

  func attend() {
    guard state.withLock({ $0.changes.start() }) else { return }
    // Detached: which of the writers starts it is chance, and so would be the priority and the task-local values.
    Task.detached(executorPreference: taskExecutor) { await self.tell() }
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
    var told = 0
    while let (change, handler) = next() {
      handler(change)
      told += 1
      // Handlers that have a lot to hear let others have the thread in between.
      if told.isMultiple(of: 32) { await Task.yield() }
    }
  }

  private func next() -> (ErasedChange, Handler)? {
    state.withLock { state in
      guard let handler = state.handler, let change = state.changes.next() else { return nil }
      return (change, handler)
    }
  }
}
