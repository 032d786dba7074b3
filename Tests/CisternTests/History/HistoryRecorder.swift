import Cistern
import CisternTesting
import Locking

/// Records what each operation of a schedule saw, key by key, with times of a counter that every call and every return
/// moves on; and checks it.
final class HistoryRecorder: Sendable {
  typealias Operation = HistoryOperation<Int>

  private struct State {
    var time: UInt64 = 0
    var lastValue = 0
    var histories: [String: [Operation]] = [:]
  }

  private let state = Guarded(State())

  /// The time now; later than every one before.
  func tick() -> UInt64 {
    state.withLock { state in
      state.time += 1
      return state.time
    }
  }

  /// A value that nobody has written.
  func newValue() -> Int {
    state.withLock { state in
      state.lastValue += 1
      return state.lastValue
    }
  }

  /// Records an operation that was called then, and returns now.
  func record(_ kind: Operation.Kind, on key: String, called: UInt64) {
    let returned = tick()
    state.withLock { $0.histories[key, default: []].append(Operation(kind, called: called, returned: returned)) }
  }

  /// Records a write that may take effect at any time after it was called, or never.
  func recordPossibleWrite(of value: Int, on key: String, called: UInt64) {
    state.withLock { $0.histories[key, default: []].append(Operation(.write(value), called: called)) }
  }

  /// A fetch that brings a new value each time, for a load that was called then. The value's write begins with the load
  /// that leads the flight: what replaces or removes it while the fetch is still to come does so after it.
  func fetch(_ key: String, loadCalled: UInt64) async throws -> Int {
    let value = newValue()
    recordPossibleWrite(of: value, on: key, called: loadCalled)
    await Task.yield()
    if value % 7 == 0 { throw Broken(number: value) }
    await Task.yield()
    return value
  }

  /// What is wrong, in words.
  var violations: [String] {
    state.withLock { $0.histories }.sorted { $0.key < $1.key }.flatMap { key, history in
      HistoryChecker.violations(in: history).map { "\(key): \($0)" }
    }
  }

  /// How many reads found a value.
  var readCount: Int {
    state.withLock { state in
      state.histories.values.reduce(0) { sum, history in
        sum + history.count { if case .read = $0.kind { true } else { false } }
      }
    }
  }
}
