import Cistern
import CisternTesting
import CisternTestSupport
import Locking

@testable import CisternCore

/// A consumer of a cache's contents that records gaps and duplicates: elements that contradict the elements before them.
final class ContentsAudit: Sendable {
  fileprivate struct State {
    var documents: [String: Document] = [:]
    var isComplete = false
    /// Whether the end of the trial was observed. The contents stay as they were before.
    var hasEnded = false
    var isEnding = false
    var findings: [Finding] = []
  }

  struct Finding: Sendable {
    let text: String
    /// Whether an absent key had a value before a change. An expired value is no entry, although the change may have it.
    var mayBeOfExpired = false
  }

  private let state = Guarded(State())
  let name: String

  init(_ name: String) {
    self.name = name
  }

  func take(_ update: ContentUpdate<String, Document>) {
    state.withLock { $0.take(update) }
  }

  var findings: [Finding] { state.withLock { $0.findings } }

  /// Whether the consumer has observed the end of the trial with all initial entries.
  var hasEnded: Bool { state.withLock { $0.hasEnded } }

  /// Whether the consumer has all initial entries.
  var isComplete: Bool { state.withLock { $0.isComplete } }

  subscript(key: String) -> Document? { state.withLock { $0.documents[key] } }
}

extension ContentsAudit.State {
  fileprivate mutating func take(_ update: ContentUpdate<String, Document>) {
    if hasEnded { return }
    switch update {
    case .initial(let key, let document):
      if isComplete { find("\(key) is an initial entry after the initial entries") }
      if let old = documents[key] { find("\(key) was \(old), and is an initial entry") }
      documents[key] = document
    case .initialEnded:
      if isComplete { find("the initial entries ended twice") }
      isComplete = true
      if isEnding { hasEnded = true }
    case .changed(let change):
      check(change)
      update.apply(to: &documents)
    case .restarted(let cause):
      if case .invalidated(.tag(Arena.lastTag))? = cause?.event { isEnding = true }
      if isEnding, isComplete {
        hasEnded = true
      } else {
        isComplete = false
        update.apply(to: &documents)
      }
    case .left(let key):
      find("\(key) left a scope of everything")
    case .failed(let error):
      find("the contents failed: \(error)")
    }
  }

  private mutating func find(_ text: String, mayBeOfExpired: Bool = false) {
    findings.append(ContentsAudit.Finding(text: text, mayBeOfExpired: mayBeOfExpired))
  }

  /// Compares the value before a change with the elements before. A gap or a duplicate lies between two different values.
  fileprivate mutating func check(_ change: Change<String, Document>) {
    switch change.event {
    case .inserted(let key, _), .updated(let key, _): check(change.previous, of: key)
    // A removal can concern a key that no element before has.
    case .removed(let key, _): if case .some = documents[key] { check(change.previous, of: key) }
    case .cleared, .invalidated: find("\(change.event) is no change of a key")
    }
  }

  private mutating func check(_ previous: PreviousValue<Document>, of key: String) {
    let (present, text) = (documents[key], documents[key].map { "\($0)" } ?? "absent")
    switch previous {
    // During the initial entries, a key that was not read yet is absent. Its value can have been removed and written again
    // before the enumeration.
    case .value where present == nil && !isComplete: break
    case .value(let value) where value != present:
      find("\(key) was \(text), and changed from \(value)", mayBeOfExpired: present == nil)
    case .none where present != nil: find("\(key) was \(text), and changed from nothing")
    case .value, .none, .unknown: break
    }
  }
}

extension Arena {
  /// The tag whose removal ends the trial for observers.
  static let lastTag = "the last"

  /// Begins to consume the contents at once, and continues until the end of the trial.
  func observeContents(_ name: String) {
    let audit = ContentsAudit(name)
    contents.record(audit)
    let iterator = cache.contentUpdates().makeAsyncIterator()
    followers.record(
      Task(executorPreference: executor) {
        var iterator = iterator
        while !audit.hasEnded, let update = await iterator.next() { audit.take(update) }
      })
  }

  /// Reads the first entry of the contents, and continues in another task until the end of the trial.
  func followContents() async {
    let audit = ContentsAudit("the contents in progress")
    contents.record(audit)
    let hasBegun = Gate()
    followers.record(
      task {
        var updates = cache.contentUpdates()
        updates.groupSize = 1
        var iterator = updates.makeAsyncIterator()
        await checkpoint.pass(.contentsBegun)
        if let first = await iterator.next() { audit.take(first) }
        await checkpoint.pass(.contentsRead)
        hasBegun.open()
        while !audit.hasEnded, let update = await iterator.next() { audit.take(update) }
      })
    await hasBegun.passUncancelled()
  }

  /// Waits until all consumers of contents have observed the end of the trial.
  ///
  /// An observation that begins after the removal of the last tag does not contain it. It observes another one.
  func waitForContents() async {
    for audit in contents.elements {
      while !audit.hasEnded {
        if audit.isComplete { cache.removeAll(tagged: Self.lastTag) }
        await Task.yield()
      }
    }
    for follower in followers.elements { await follower.value }
  }
}
