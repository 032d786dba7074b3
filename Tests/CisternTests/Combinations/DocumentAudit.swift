import Cistern
import CisternTesting
import Locking

/// An observer that replays a cache's changes and records events that contradict earlier ones.
final class DocumentAudit: Sendable {
  private struct State {
    var documents: [String: Document] = [:]
    var findings: [String] = []
    var invalidatedTags: Set<String> = []
  }

  private let state = Guarded(State())

  func take(_ change: Change<String, Document>) {
    state.withLock { state in
      switch change.event {
      case .inserted(let key, let document):
        if let old = state.documents[key] { state.findings.append("\(key) was \(old), and inserted as \(document)") }
        state.documents[key] = document
      case .updated(let key, let document):
        if state.documents[key] == nil { state.findings.append("\(key) was absent, and updated to \(document)") }
        state.documents[key] = document
      case .removed(let key, let cause):
        if state.documents[key] == nil { state.findings.append("\(key) was absent, and removed (\(cause))") }
        state.documents[key] = nil
      case .cleared:
        state.documents = [:]
      case .invalidated(.prefix(let prefix)):
        state.documents = state.documents.filter { !Array($0.key.utf8).starts(with: prefix) }
      case .invalidated(.tag(let tag)):
        state.invalidatedTags.insert(tag)
        state.documents = state.documents.filter { Arena.tag(ofKey: $0.key) != tag }
      }
    }
  }

  /// Takes a key as present before the first change.
  func assume(_ document: Document, forKey key: String) { state.withLock { $0.documents[key] = document } }

  var findings: [String] { state.withLock { $0.findings } }

  /// Whether the observer received the end of the trial.
  var hasHeardEnd: Bool {
    state.withLock { $0.invalidatedTags.contains(Arena.lastTag) || $0.documents[Arena.lastKey] != nil }
  }

  /// The document of a key according to the changes received so far.
  subscript(key: String) -> Document? { state.withLock { $0.documents[key] } }
}
