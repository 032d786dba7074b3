import CisternTesting
import Synchronization

/// Histories from real threads. Each task keeps its own log, so that recording adds no ordering that the cache lacks.
final class ThreadHistory: Sendable {
  typealias Operation = HistoryOperation<Int>

  // Relaxed: ThreadSanitizer must not treat the clock as a lock.
  private let time = Atomic<UInt64>(0)
  private let lastValue = Atomic<Int>(0)

  /// The operations of one task, by key.
  struct Log: Sendable {
    var operations: [Int: [Operation]] = [:]
  }

  func tick() -> UInt64 { time.add(1, ordering: .relaxed).newValue }

  func newValue() -> Int { lastValue.add(1, ordering: .relaxed).newValue }

  /// Descriptions of the violations that the checker finds.
  static func violations(in logs: [Log]) -> [String] {
    var histories: [Int: [Operation]] = [:]
    for log in logs { histories.merge(log.operations, uniquingKeysWith: +) }
    return histories.sorted { $0.key < $1.key }.flatMap { key, history in
      HistoryChecker.violations(in: history).prefix(3).map { "\(key): \($0)" }
    }
  }
}
