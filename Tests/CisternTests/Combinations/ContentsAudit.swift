import Cistern
import CisternTesting
import CisternTestSupport
import Locking

@testable import CisternCore

/// A consumer of a cache's contents that records gaps and duplicates: elements that contradict the elements before
/// them.
final class ContentsAudit: Sendable {
  fileprivate typealias History = ContentsHistory<String, Document>

  fileprivate struct State {
    var history = History()
    var findings: [History.Contradiction] = []
    var progress = Progress.beforeEnd
  }

  fileprivate enum Progress {
    /// The end of the trial was not observed.
    case beforeEnd
    /// The end of the trial was observed before the end of the initial entries.
    case ending
    /// The end of the trial was observed. The contents stay as they were before.
    case ended
  }

  private let state = Guarded(State())
  let name: String

  init(_ name: String) {
    self.name = name
  }

  func take(_ update: ContentUpdate<String, Document>) {
    state.withLock { $0.take(update) }
  }

  var findings: [ContentsHistory<String, Document>.Contradiction] { state.withLock { $0.findings } }

  /// Whether the consumer has observed the end of the trial with all initial entries.
  var hasEnded: Bool { state.withLock { $0.progress == .ended } }

  /// Whether the consumer has all initial entries.
  var isComplete: Bool { state.withLock { $0.history.isComplete } }

  subscript(key: String) -> Document? { state.withLock { $0.history.contents[key] } }
}

extension ContentsAudit.State {
  fileprivate mutating func take(_ update: ContentUpdate<String, Document>) {
    if progress == .ended { return }
    if update.isEnd {
      progress = history.isComplete ? .ended : .ending
      if progress == .ended { return }
    }
    if let contradiction = history.take(update) { findings.append(contradiction) }
    if progress == .ending, history.isComplete { progress = .ended }
  }
}

extension ContentUpdate<String, Document> {
  /// Whether the element is the end of the trial.
  fileprivate var isEnd: Bool {
    switch self {
    case .restarted(let cause): if case .invalidated(.tag(Arena.lastTag))? = cause?.event { true } else { false }
    case .initial(Arena.lastKey, _): true
    case .changed(let change): if case .inserted(Arena.lastKey, _) = change.event { true } else { false }
    case .initial, .initialEnded, .left, .failed: false
    }
  }
}

extension Arena {
  /// The tag whose removal ends the trial for observers.
  static let lastTag = "the last"
  /// The key whose insertion ends the trial, if the removal of a tag would remove all keys.
  static let lastKey = "z/last"

  /// Tells all observers that the trial ends.
  func announceEnd() {
    guard kind.widensRemovals else { return cache.removeAll(tagged: Self.lastTag) }
    journal.change { $0.endCount += 1 }
    // A value that replaces another one is no insertion.
    cache.removeValue(forKey: Self.lastKey)
    cache.setValue(Document(), forKey: Self.lastKey)
  }

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
  /// An observation that begins after the end was announced does not contain it. It observes another announcement.
  func waitForContents() async {
    for audit in contents.elements {
      while !audit.hasEnded {
        if audit.isComplete { announceEnd() }
        await Task.yield()
      }
    }
    for follower in followers.elements { await follower.value }
  }
}
