import CisternCore
import CisternTesting
import CisternTestSupport
import Locking

/// Records the result of each operation of a schedule per key, and checks the histories. Times come from a counter
/// that every call and every return advances.
final class HistoryRecorder: Sendable {
  typealias Operation = HistoryOperation<Int>

  private struct State {
    var time: UInt64 = 0
    var lastValue = 0
    var histories: [String: [Operation]] = [:]
  }

  private let state = Guarded(State())

  /// Advances the counter and returns the new time.
  func tick() -> UInt64 {
    state.withLock { state in
      state.time += 1
      return state.time
    }
  }

  /// Returns a value that no operation has written.
  func newValue() -> Int {
    state.withLock { state in
      state.lastValue += 1
      return state.lastValue
    }
  }

  /// Records an operation that was called at `called` and returns now.
  func record(_ kind: Operation.Kind, on key: String, called: UInt64) {
    let returned = tick()
    state.withLock { $0.histories[key, default: []].append(Operation(kind, called: called, returned: returned)) }
  }

  /// Records a write that may take effect at any time after its call, or never.
  func recordPossibleWrite(of value: Int, on key: String, called: UInt64) {
    state.withLock { $0.histories[key, default: []].append(Operation(.write(value), called: called)) }
  }

  /// Fetches a new value each time, for a load that was called at `loadCalled`. The possible write of the value
  /// begins with the load that leads the flight. Writes and removals between that call and the fetch follow it.
  func fetch(_ key: String, loadCalled: UInt64) async throws -> Int {
    let value = newValue()
    recordPossibleWrite(of: value, on: key, called: loadCalled)
    await Task.yield()
    if value % 7 == 0 { throw Broken(number: value) }
    await Task.yield()
    return value
  }

  /// Descriptions of the violations that the checker finds.
  var violations: [String] {
    state.withLock { $0.histories }.sorted { $0.key < $1.key }.flatMap { key, history in
      HistoryChecker.violations(in: history).map { "\(key): \($0)" }
    }
  }

  /// The number of reads that found a value.
  var readCount: Int {
    state.withLock { state in
      state.histories.values.reduce(0) { sum, history in
        sum + history.count { if case .read = $0.kind { true } else { false } }
      }
    }
  }
}
