import Cistern
import Locking

/// The changes that an observer received, folded to the contents that they lead to.
final class ChangeFold: Sendable {
  private let state = Guarded<(contents: [String: Int], clears: Int)>(([:], 0))

  func add(_ change: Change<String, Int>) {
    state.withLock { state in
      switch change.event {
      case .inserted(let key, let value), .updated(let key, let value): state.contents[key] = value
      case .removed(let key, _): state.contents[key] = nil
      case .cleared: state = ([:], state.clears + 1)
      case .invalidated(.prefix(let prefix)):
        state.contents = state.contents.filter { !$0.key.utf8.starts(with: prefix) }
      case .invalidated(.tag): break
      }
    }
  }

  var contents: [String: Int] { state.withLock { $0.contents } }
  var clears: Int { state.withLock { $0.clears } }
}
