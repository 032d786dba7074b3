import Cistern
import Locking

/// The violations of all tasks of a run. The log keeps the first hundred, and counts the others.
final class ViolationLog: Sendable {
  private struct State {
    var kept: [Violation] = []
    var count = 0
  }

  static let capacity = 100

  private let state = Guarded(State())
  private let start = Ticks.now()

  func report(_ rule: Violation.Rule, _ detail: String) {
    let violation = Violation(rule: rule, detail: detail, seconds: Double(Ticks.now() - start) / 1e9)
    state.withLock { state in
      state.count += 1
      if state.kept.count < ViolationLog.capacity { state.kept.append(violation) }
    }
  }

  /// Returns the cache of an exercise. Reports that it could not be created otherwise, and returns nil.
  func require<Key, Value>(_ cache: Result<Cache<Key, Value>, any Error>, _ name: String) -> Cache<Key, Value>? {
    do {
      return try cache.get()
    } catch {
      report(.failed, "\(name) could not be created: \(error)")
      return nil
    }
  }

  /// Judges the error of a call that must not fail, in the task of its caller. Reports it, unless the task was
  /// cancelled.
  ///
  /// The end of a run cancels the clients that still wait after some seconds. It cancels no other task.
  ///
  /// - Returns: The outcome of the call.
  func judge(_ error: any Error, of call: @autoclosure () -> String) -> Outcome {
    if error is CancellationError, Task.isCancelled { return .cancelled }
    report(.failed, "\(call()) failed: \(error)")
    return .failed
  }

  /// The number of all violations.
  var count: Int { state.withLock { $0.count } }

  /// The violations in the log, in the order of their reports.
  var violations: [Violation] { state.withLock { $0.kept } }
}
