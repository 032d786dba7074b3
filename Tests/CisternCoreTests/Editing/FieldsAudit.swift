import CisternCore
import Locking

/// An observer of a cache of fields that records contradictory changes.
final class FieldsAudit: Sendable {
  private let state: Guarded<(values: [String: Fields], findings: [String])>

  init(base: [String: Fields]) {
    state = Guarded((base, []))
  }

  func take(_ change: Change<String, Fields>) {
    state.withLock { state in
      switch change.event {
      case .inserted(let key, let value):
        if state.values[key] != nil { state.findings.append("\(key) was present, but inserted") }
        state.values[key] = value
      case .updated(let key, let value):
        if state.values[key] == nil { state.findings.append("\(key) was absent, but updated") }
        state.values[key] = value
      case .removed(let key, let cause):
        if state.values[key] == nil { state.findings.append("\(key) was absent, but removed (\(cause))") }
        state.values[key] = nil
      case .cleared, .invalidated:
        state.values = [:]
      }
    }
  }

  var values: [String: Fields] { state.withLock { $0.values } }
  var findings: [String] { state.withLock { $0.findings } }
}
