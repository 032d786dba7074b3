import Locking

/// The mailbox of a handler: an unbounded buffer that a job empties while it contains changes.
///
/// The job runs on a handler thread, or in a task if the user chose an executor or the main actor. A handler that
/// blocks its thread delays no other observer, as long as more threads are available.
final class HandlerMailbox: Mailbox {
  /// A handler receives a change, and can ask the mailbox about its state.
  typealias Handler = @Sendable (ErasedChange, HandlerMailbox) -> Void

  private struct State {
    var changes: HandlerState
    /// The handler; nil after the end, so that its captured references are released.
    var handler: Handler?
  }

  private let state: Guarded<State>
  private let execution: HandlerExecution

  init(on execution: HandlerExecution, handler: @escaping Handler) {
    self.execution = execution
    state = Guarded(State(changes: .idle(ChangeBuffer(.unbounded)), handler: handler))
  }

  /// Whether the handler has received all changes so far.
  var isEmpty: Bool { state.withLock { $0.changes.isEmpty } }
  /// Whether the handler must not be called any more.
  var hasEnded: Bool { state.withLock { $0.handler == nil } }

  func append(_ change: ErasedChange) -> Bool {
    state.withLock { $0.changes.append(change) }
  }

  func startDelivery() {
    guard state.withLock({ $0.changes.start() }) else { return }
    switch execution {
    case .threads: HandlerThreads.shared.run { self.callHandlerForSome() }
    // Detached, because any writer may start the task. It must not inherit that writer's priority or task-local
    // values.
    case .executor(let executor):
      Task.detached(executorPreference: executor) { await self.callHandler() }
    case .mainActor: Task.detached { await self.callHandlerOnMainActor() }
    }
  }

  func finish() {}

  func end() {
    // The returned state and handler are released on return, outside the lock.
    _ = state.withLock { state in
      defer { state.handler = nil }
      return (state.changes.end(), state.handler)
    }
  }

  private func callHandler() async {
    while callHandlerForSome() { await Task.yield() }
  }

  @MainActor
  private func callHandlerOnMainActor() async {
    while callHandlerForSome() { await Task.yield() }
  }

  /// Calls the handler with a limited number of changes. The thread can run other handlers between two such calls.
  ///
  /// - Returns: Whether more changes may wait.
  private func callHandlerForSome() -> Bool {
    for _ in 0..<32 {
      guard let (change, handler) = next() else { return false }
      handler(change, self)
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
