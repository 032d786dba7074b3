import CisternTesting
import Locking

/// A recording of all operations on a few keys. At the end of the run, ``HistoryChecker`` checks it independently
/// of ``KeyHistory``.
final class HistorySample: Sendable {
  /// The maximum number of recorded operations of a key. Later reads are not recorded.
  static let capacity = 30_000

  /// Writes have a higher limit than reads: the write of a value that was read can return after the last recorded
  /// read.
  private static func limit(on kind: HistoryOperation<Version>.Kind) -> Int {
    switch kind {
    case .read, .miss: capacity
    case .write, .removal: capacity * 2
    }
  }

  /// The number of recorded keys.
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

  /// The number of recorded operations.
  var count: Int {
    recordings.values.reduce(0) { sum, recording in sum + recording.operations.withLock { $0.count } }
  }

  /// Checks all recordings, and reports the violations.
  func check(names: [String], into violations: ViolationLog) {
    for (key, recording) in recordings {
      let operations = recording.operations.withLock { $0 }
      for violation in HistoryChecker.violations(in: operations) {
        violations.report(.history, "\(names[key]): \(violation)")
      }
    }
  }
}
