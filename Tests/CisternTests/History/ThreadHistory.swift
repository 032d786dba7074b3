import CisternTesting
import Synchronization

/// Histories from real threads: each task keeps its own, so that recording orders nothing that the cache does not.
final class ThreadHistory: Sendable {
  typealias Operation = HistoryOperation<Int>

  // Relaxed: ThreadSanitizer must not take the clock for a lock.
  private let time = Atomic<UInt64>(0)
  private let lastValue = Atomic<Int>(0)

  /// What one task saw, by key.
  struct Log: Sendable {
    var operations: [Int: [Operation]] = [:]
  }

  func tick() -> UInt64 { time.add(1, ordering: .relaxed).newValue }

  func newValue() -> Int { lastValue.add(1, ordering: .relaxed).newValue }

  /// What is wrong, in words.
  static func violations(in logs: [Log]) -> [String] {
    var histories: [Int: [Operation]] = [:]
    for log in logs { histories.merge(log.operations, uniquingKeysWith: +) }
    return histories.sorted { $0.key < $1.key }.flatMap { key, history in
      HistoryChecker.violations(in: history).prefix(3).map { "\(key): \($0)" }
    }
  }
}
