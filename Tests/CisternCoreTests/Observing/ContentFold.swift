import CisternTesting
import Locking

@testable import CisternCore

/// A consumer of contents that keeps a dictionary and records contradictions: a change that came before, or that an
/// initial entry contains, and an initial entry that came twice.
final class ContentFold: Sendable {
  private struct State {
    var contents: [String: Int] = [:]
    var numbers: [String: UInt64] = [:]
    var isComplete = false
    var isFailed = false
    var restarts = 0
    var initialCount = 0
    var findings: [String] = []
  }

  private let state = Guarded(State())
  /// Whether edits are among the operations. A key can then have a former value again, and the tags of the confirmed
  /// one.
  private let valuesReturn: Bool

  init(valuesReturn: Bool = false) {
    self.valuesReturn = valuesReturn
  }

  func take(_ update: ContentUpdate<String, Int>) {
    state.withLock { state in
      switch update {
      case .initial(let key, let value):
        state.initialCount += 1
        if state.isComplete { state.findings.append("\(key) came after the initial entries") }
        if let older = state.contents[key] { state.findings.append("\(key) was \(older), and initially \(value)") }
      case .initialEnded:
        if state.isComplete { state.findings.append("the initial entries ended twice") }
        state.isComplete = true
      case .changed(let change):
        guard let key = change.key else {
          state.findings.append("a change of many keys")
          break
        }
        if let number = state.numbers[key], change.number <= number { state.findings.append("\(key) changed late") }
        if !valuesReturn, let value = change.value, value == state.contents[key] {
          state.findings.append("\(key) is \(value) twice")
        }
        state.numbers[key] = change.number
        // Before, changes can concern keys that the enumeration has not reached.
        if state.isComplete, case .value(let value) = change.previous, let held = state.contents[key], held != value {
          state.findings.append("\(key) was \(held), not \(value)")
        }
      case .left(let key):
        if !valuesReturn, let value = state.contents[key], value % 2 == 0 { state.findings.append("\(key) had left") }
      case .restarted:
        state.isComplete = false
        state.restarts += 1
      case .failed:
        state.isFailed = true
      }
      update.apply(to: &state.contents)
    }
  }

  var contents: [String: Int] { state.withLock { $0.contents } }
  var findings: [String] { state.withLock { $0.findings } }
  var isComplete: Bool { state.withLock { $0.isComplete } }
  var isFailed: Bool { state.withLock { $0.isFailed } }
  var restarts: Int { state.withLock { $0.restarts } }
  var initialCount: Int { state.withLock { $0.initialCount } }
}
