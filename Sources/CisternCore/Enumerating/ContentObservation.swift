/// A task that calls a handler with the contents of a scope. It ends when its subscription ends, or with its cache.
struct ContentObservation<Key: CacheKey, Value: Sendable>: Sendable {
  typealias Update = ContentUpdate<Key, Value>

  let subscription: Subscription<IteratorMailbox>
  let handler: @Sendable (Update) -> Void

  /// Starts the task.
  ///
  /// The task is detached, because it must not inherit the priority and the task-local values of the observer's
  /// creator.
  func start(_ contents: ContentReader<Key, Value>, on execution: HandlerExecution) {
    switch execution {
    case .threads: Task.detached { await run(contents, calling: callOnThread) }
    case .executor(let executor):
      Task.detached(executorPreference: executor) { await run(contents, calling: call) }
    case .mainActor: Task.detached { await runOnMainActor(contents) }
    }
  }

  private func run(
    _ contents: ContentReader<Key, Value>, calling call: @Sendable ([Update]) async -> Void
  ) async {
    var iterator = ContentUpdates<Key, Value>.Iterator(reader: contents)
    while let updates = await iterator.nextUpdates(isolation: nil) {
      await call(updates)
      await Task.yield()
    }
  }

  @MainActor
  private func runOnMainActor(_ contents: ContentReader<Key, Value>) async {
    var iterator = ContentUpdates<Key, Value>.Iterator(reader: contents)
    while let updates = await iterator.nextUpdates(isolation: MainActor.shared) {
      callNow(updates)
      await Task.yield()
    }
  }

  /// Calls the handler on a thread that the handler may block.
  @Sendable
  private func callOnThread(_ updates: [Update]) async {
    await withCheckedContinuation { done in
      HandlerThreads.shared.run {
        callNow(updates)
        done.resume()
        return false
      }
    }
  }

  @Sendable
  private func call(_ updates: [Update]) async { callNow(updates) }

  private func callNow(_ updates: [Update]) {
    for update in updates {
      if subscription.isEnded { return }
      handler(update)
    }
  }
}
