import Cistern
import CisternTesting
import Locking

/// An observer of the contents of an exercise's cache. It reports gaps and duplicates.
final class ContentsWitness: Sendable {
  private let prefix: String
  private let history = Guarded(ContentsHistory<String, UInt64>())
  private let observations = Observations()
  private let violations: ViolationLog

  init(prefix: String, violations: ViolationLog) {
    self.prefix = prefix
    self.violations = violations
  }

  /// Begins to observe. The witness must not observe yet.
  func observe(_ cache: Cache<String, UInt64>) {
    cache.observeContents(.prefix(prefix)) { [weak self] in self?.receive($0) }.store(in: observations)
  }

  private func receive(_ update: ContentUpdate<String, UInt64>) {
    if let wrong = history.withLock({ $0.take(update) }) {
      violations.report(.observed, "contents of '\(prefix)': \(wrong)")
    }
  }

  /// Waits until the contents are the values of an idle cache, and ends the observation.
  ///
  /// The wait has no limit, because the enumeration needs turns of a pool that other tasks can keep busy. The run
  /// limits the time of all checks (``Patience``).
  ///
  /// - Parameter values: The values of all keys.
  func settle(with values: [String: UInt64]) async {
    let expected = values.filter { $0.key.hasPrefix(prefix) }
    while history.withLock({ $0.judgeRest(expected) }) != nil { await pause(.milliseconds(1)) }
    observations.cancelAll()
  }
}
