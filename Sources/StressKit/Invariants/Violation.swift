import Locking

/// Something that must never happen, and did.
struct Violation: Sendable, Equatable, Codable {
  /// The rule that was broken.
  enum Rule: String, Sendable, Codable, CaseIterable {
    /// Two fetches of one key ran at once, and nothing had removed the entry between.
    case fetchedTwice
    /// A read returned a value older than one returned or committed before the read began.
    case stale
    /// A value was returned past its grace, or stale where a fresh one was wanted.
    case outlived
    /// An origin was asked again while it was to be left alone.
    case throttled
    /// A merged value lost a field.
    case lostField
    /// An update was lost, or counted twice.
    case lostUpdate
    /// An edit was shown when it was over, or not shown, or counted twice.
    case edited
    /// A batch or a draft was seen, or stored, in part.
    case torn
    /// The bytes are not those of any value that was written for the key.
    case corrupt
    /// Events of a key out of order, twice, or not at all.
    case observed
    /// A tier held more than its limit.
    case overLimit
    /// At the end something was still waited for, or the parts disagreed with one another.
    case unsound
    /// The recorded history of a key has no order that explains it.
    case history
    /// A call that must not fail failed.
    case failed
  }

  let rule: Rule
  let detail: String
  /// When it was found, in seconds from the start.
  let seconds: Double
}

/// Collects violations from every task of a run. The first hundred are kept whole, the others counted.
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

  /// How many were reported.
  var count: Int { state.withLock { $0.count } }

  /// Those that were kept, in the order of their reports.
  var violations: [Violation] { state.withLock { $0.kept } }
}
