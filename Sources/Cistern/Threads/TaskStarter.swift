/// Starts tasks for callers that cannot wait for that, from a thread of its own, which mostly sleeps.
///
/// To start a task where the pool's threads sleep takes longer of who starts it than to wake this thread, because the pool
/// has to choose one, too. One for the process, which the first that needs it brings up.
@usableFromInline
final class TaskStarter: Sendable {
  static let shared = TaskStarter()

  private struct State {
    var waiting: [@Sendable () async -> Void] = []
    var hasThread = false

    /// What waits to be started; nil for nothing.
    mutating func takeAll() -> [@Sendable () async -> Void]? {
      guard !waiting.isEmpty else { return nil }
      defer { waiting = [] }
      return waiting
    }
  }

  private let state = Monitor(State())

  /// Runs `body` soon, in a task without the caller's task-local values; for what nobody waits for.
  ///
  /// - Parameter taskExecutor: where it runs; nil for the global pool. An executor of the user's gets it from the caller, so
  ///   that a seeded one is the only source of chance.
  @usableFromInline
  static func start(on taskExecutor: (any TaskExecutor)?, _ body: @escaping @Sendable () async -> Void) {
    if let taskExecutor {
      Task.detached(executorPreference: taskExecutor, priority: .utility, operation: body)
    } else {
      shared.start(body)
    }
  }

  private func start(_ body: @escaping @Sendable () async -> Void) {
    let hadThread = state.change { state in
      state.waiting.append(body)
      defer { state.hasThread = true }
      return state.hasThread
    }
    guard !hadThread else { return }
    do {
      try SystemThread.start { [self] in
        while true { startTasks(state.wait { $0.takeAll() }) }
      }
    } catch {
      // No more threads can be had: the next caller tries again, and this one does it itself.
      startTasks(
        state.withLock { state in
          state.hasThread = false
          return state.takeAll() ?? []
        })
    }
  }

  private func startTasks(_ bodies: [@Sendable () async -> Void]) {
    for body in bodies { Task.detached(priority: .utility, operation: body) }
  }
}
