import Cistern
import Locking
import Synchronization

/// An observer of a key or a prefix. It checks that the numbers of a key's changes increase, and that no other key
/// is reported.
final class ScopedObserver: Sendable {
  private let scope: @Sendable (String) -> Bool
  private let title: String
  private let lastNumbers = Guarded<[String: UInt64]>([:])
  private let received = Atomic<Int>(0)
  private let violations: ViolationLog

  init(_ title: String, violations: ViolationLog, scope: @escaping @Sendable (String) -> Bool) {
    self.title = title
    self.violations = violations
    self.scope = scope
  }

  /// The number of received changes.
  var count: Int { received.load(ordering: .relaxed) }

  func receive(_ change: Change<String, [UInt8]>) {
    received.add(1, ordering: .relaxed)
    guard let key = change.key else { return }
    guard scope(key) else {
      violations.report(.observed, "the observer of \(title) received a change of \(key)")
      return
    }
    let last = lastNumbers.withLock { numbers in
      defer { numbers[key] = change.number }
      return numbers[key] ?? 0
    }
    if change.number <= last {
      violations.report(.observed, "\(key): the observer of \(title) received change \(change.number) after \(last)")
    }
  }
}
