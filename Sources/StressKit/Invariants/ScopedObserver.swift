import Cistern
import Locking
import Synchronization

/// Observes a key or a prefix for a while, and checks that numbers rise and that nothing else is delivered.
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

  /// Changes received.
  var count: Int { received.load(ordering: .relaxed) }

  func receive(_ change: Change<String, [UInt8]>) {
    received.add(1, ordering: .relaxed)
    guard let key = change.key else { return }
    guard scope(key) else {
      violations.report(.observed, "the observer of \(title) was told of \(key)")
      return
    }
    let last = lastNumbers.withLock { numbers in
      defer { numbers[key] = change.number }
      return numbers[key] ?? 0
    }
    if change.number <= last {
      violations.report(.observed, "\(key): change \(change.number) was delivered after change \(last), to \(title)")
    }
  }
}
