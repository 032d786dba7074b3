import CisternTesting
import Locking

/// Records every operation on a few keys, for ``HistoryChecker`` to judge at the end: a second opinion, by another
/// program, on what ``KeyHistory`` judges as it goes.
final class HistorySample: Sendable {
  /// Operations recorded of each key, until its reads are recorded no longer.
  static let capacity = 30_000

  /// Writes are recorded for longer than reads: one that was read may return after its last read that is recorded.
  private static func limit(on kind: HistoryOperation<Version>.Kind) -> Int {
    switch kind {
    case .read, .miss: capacity
    case .write, .removal: capacity * 2
    }
  }

  /// Keys recorded.
  static let keyCount = 24

  private final class Recording: Sendable {
    let operations = Guarded<[HistoryOperation<Version>]>([])
  }

  private let recordings: [Int: Recording]

  init(keys: some Sequence<Int>) {
    recordings = Dictionary(keys.map { ($0, Recording()) }) { first, _ in first }
  }

  func record(_ key: Int, _ kind: HistoryOperation<Version>.Kind, from call: UInt64, to end: UInt64) {
    guard let recording = recordings[key] else { return }
    recording.operations.withLock { operations in
      guard operations.count < HistorySample.limit(on: kind) else { return }
      operations.append(HistoryOperation(kind, called: call, returned: end))
    }
  }

  func recordClearing(_ clearing: Clearing, of isConcerned: (Int) -> Bool) {
    for key in recordings.keys where isConcerned(key) {
      record(key, .removal, from: clearing.call, to: clearing.return)
    }
  }

  /// Operations recorded.
  var count: Int {
    recordings.values.reduce(0) { sum, recording in sum + recording.operations.withLock { $0.count } }
  }

  /// Judges what was recorded.
  func check(names: [String], into violations: ViolationLog) {
    for (key, recording) in recordings {
      let operations = recording.operations.withLock { $0 }
      for violation in HistoryChecker.violations(in: operations) {
        violations.report(.history, "\(names[key]): \(violation)")
      }
    }
  }
}
