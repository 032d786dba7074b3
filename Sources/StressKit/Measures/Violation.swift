import Cistern
import Locking

/// A broken rule of the cache.
struct Violation: Sendable, Equatable, Codable {
  /// The rule that was broken.
  enum Rule: String, Sendable, Codable, CaseIterable {
    /// Two fetches of one key ran concurrently, although no operation had removed the entry.
    case fetchedTwice
    /// A read returned a value that is older than one that was returned or committed before the read began.
    case stale
    /// A read returned a value after its grace, or a stale value although it wanted a fresh one.
    case outlived
    /// The cache asked an origin before the retry interval had passed.
    case throttled
    /// A merged value lost a field.
    case lostField
    /// An update was lost, or counted twice.
    case lostUpdate
    /// An edit was visible after its end, was not visible before, or was counted twice.
    case edited
    /// Only a part of a batch or a draft was visible or stored.
    case torn
    /// The bytes are not those of any value that was written for the key.
    case corrupt
    /// Events of a key were out of order, repeated, or missing.
    case observed
    /// A tier held more than its limit.
    case overLimit
    /// At the end of the run, a waiter was left, or parts of the cache disagreed.
    case unsound
    /// No order of the operations explains the recorded history of a key.
    case history
    /// A call failed that must not fail.
    case failed
  }

  let rule: Rule
  let detail: String
  /// The time since the start of the run in seconds.
  let seconds: Double
}

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
