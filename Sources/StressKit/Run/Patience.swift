import Locking

/// The times that a run gives to everything that must end. After these times the run reports what still waits, and ends
/// without it.
struct Patience: Sendable {
  /// The time that clients have after the end of the run, until they are cancelled. They may wait for a slow origin.
  var beforeCancellation = Duration.seconds(10)
  /// The time that cancelled clients have.
  var afterCancellation = Duration.seconds(120)
  /// The time of the last checks and of the closing of the store.
  var forChecks = Duration.seconds(600)
}

/// Runs `body`, but waits for it only until `limit` ends. Afterwards, `body` continues in a separate task.
///
/// - Parameters:
///   - body: The work that must end.
///   - limit: Ends when the time is over. It is cancelled when `body` has ended.
/// - Returns: Whether `body` ended first.
func ends(
  _ body: @escaping @Sendable () async -> Void, before limit: @escaping @Sendable () async throws -> Void
) async -> Bool {
  await withCheckedContinuation { continuation in
    let answer = Answer(continuation)
    let timer = Task {
      // The only error is the cancellation, after the answer.
      do { try await limit() } catch { return }
      answer.give(false)
    }
    Task {
      await body()
      timer.cancel()
      answer.give(true)
    }
  }
}

/// A continuation that only the first answer resumes.
private final class Answer: Sendable {
  private let waiter: Guarded<CheckedContinuation<Bool, Never>?>

  init(_ waiter: CheckedContinuation<Bool, Never>) {
    self.waiter = Guarded(waiter)
  }

  func give(_ answer: Bool) {
    let first = waiter.withLock { waiter in
      defer { waiter = nil }
      return waiter
    }
    first?.resume(returning: answer)
  }
}
