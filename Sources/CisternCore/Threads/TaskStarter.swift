import Locking

/// A dedicated thread that starts tasks on behalf of callers. It sleeps most of the time.
///
/// If the threads of the cooperative pool sleep, starting a task takes longer than waking this thread, because the
/// pool must also select a thread. The process has one starter, and its first use starts the thread.
@usableFromInline
final class TaskStarter: Sendable {
  static let shared = TaskStarter()

  private struct State {
    var waiting: [@Sendable () async -> Void] = []
    var hasThread = false

    /// Removes and returns the waiting closures; nil if none waits.
    mutating func takeAll() -> [@Sendable () async -> Void]? {
      guard !waiting.isEmpty else { return nil }
      defer { waiting = [] }
      return waiting
    }
  }

  private let state = Monitor(State())

  /// Starts a task for work that no caller waits for. The task has no task-local values of the caller.
  ///
  /// - Parameters:
  ///   - taskExecutor: The executor of the task; nil for the global pool. With an executor, the caller starts the
  ///     task itself, so that a seeded executor is the only source of nondeterminism.
  ///   - body: The work.
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
      // The system cannot create another thread. This caller starts the tasks itself, and the next caller tries
      // again.
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
