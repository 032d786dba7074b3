import Cistern
import Locking

/// The changes that an observer received, folded to the contents that they lead to.
final class ChangeFold: Sendable {
  private struct State {
    var contents: [String: Int] = [:]
    var clears = 0
    var end: Int?
  }

  private let state = Guarded(State())

  func add(_ change: Change<String, Int>) {
    state.withLock { state in
      switch change.event {
      case .inserted(let key, let value), .updated(let key, let value):
        state.contents[key] = value
        if key == "end" { state.end = value }
      case .removed(let key, _): state.contents[key] = nil
      case .cleared:
        state.contents = [:]
        state.clears += 1
      case .invalidated(.prefix(let prefix)):
        state.contents = state.contents.filter { !$0.key.utf8.starts(with: prefix) }
      case .invalidated(.tag): break
      }
    }
  }

  var contents: [String: Int] { state.withLock { $0.contents } }
  /// The newest value of the key "end", which may have left since.
  var end: Int? { state.withLock { $0.end } }
  var clears: Int { state.withLock { $0.clears } }
}
