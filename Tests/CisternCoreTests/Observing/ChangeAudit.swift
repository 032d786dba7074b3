import CisternCore
import CisternTesting
import Locking

/// An observer that records contradictions in a cache's changes. These are decreasing numbers, insertions of present
/// keys, updates or removals of absent keys, and previous values that are not those before.
final class ChangeAudit: Sendable {
  private struct State {
    var values: [String: Int] = [:]
    var numbers: [String: UInt64] = [:]
    var lastCleared: UInt64 = 0
    var findings: [String] = []
    var count = 0
  }

  private let state = Guarded(State())

  /// Records the next change.
  func take(_ change: Change<String, Int>) {
    state.withLock { state in
      state.count += 1
      if let key = change.key {
        if change.number <= max(state.numbers[key] ?? 0, state.lastCleared) {
          state.findings.append("\(key): number \(change.number) came late")
        }
        state.numbers[key] = change.number
      }
      if let key = change.key {
        let isContradicted =
          switch change.previous {
          case .value(let value): state.values[key] != value
          case .none: state.values[key] != nil
          case .unknown: state.values[key] == nil
          }
        if isContradicted {
          state.findings.append("\(key) was \(String(describing: state.values[key])), not \(change.previous)")
        }
      }
      switch change.event {
      case .inserted(let key, let value):
        if let old = state.values[key] { state.findings.append("\(key) was \(old), and inserted as \(value)") }
        state.values[key] = value
      case .updated(let key, let value):
        if state.values[key] == nil { state.findings.append("\(key) was absent, and updated to \(value)") }
        state.values[key] = value
      case .removed(let key, let cause):
        if state.values[key] == nil { state.findings.append("\(key) was absent, and removed (\(cause))") }
        state.values[key] = nil
      case .cleared:
        state.lastCleared = change.number
        state.values = [:]
      case .invalidated(.prefix(let prefix)):
        state.values = state.values.filter { !Array($0.key.utf8).starts(with: prefix) }
      case .invalidated(.tag(let tag)):
        // In these tests, an odd value has the tag "odd".
        state.values = state.values.filter { tag != "odd" || $0.value % 2 == 0 }
      }
    }
  }

  var count: Int { state.withLock { $0.count } }
  var findings: [String] { state.withLock { $0.findings } }
  /// The content of the cache according to the changes.
  var values: [String: Int] { state.withLock { $0.values } }
}
