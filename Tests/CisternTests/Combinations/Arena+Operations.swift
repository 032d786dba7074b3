import CisternTesting
import CisternTestSupport
import Locking

@testable import CisternCore

// Helpers that the operations share. Each helper runs one operation and records it in the journal.

extension Arena {
  /// The error that a failing origin throws.
  struct Broken: Error {}

  func lookUp() -> Document? {
    let began = journal.tick()
    let document = cache[Self.key]
    journal.noteLookUp(document, since: began)
    return document
  }

  func set() {
    let began = journal.tick()
    let mark = journal.mark(.set)
    cache.setValue(Document(mark), forKey: Self.key, tags: [Self.tag])
    noteReplacement(by: mark, since: began)
  }

  /// Records a write. In a cache without a merge function, the write replaces the previous values.
  func noteReplacement(by mark: Int, since began: Int) {
    if cache.merge == nil { journal.noteErasure(.replacement, since: began) }
    journal.noteStored(mark, since: began)
  }

  func remove(_ erasure: Record.Erasure = .removal, _ body: () -> Void) {
    let began = journal.tick()
    body()
    journal.noteErasure(erasure, since: began)
  }

  private var isFetching: Bool { cache.statistics.inProgressCount > 0 || !journal.record.fetches.isEmpty }

  /// Like ``remove(_:_:)``, for a removal that affects only keys with a value or with a write in progress.
  func removePresent(_ body: () -> Void) {
    let record = journal.record
    let isPresent = !record.stored.isEmpty || isFetching || !record.edits.isEmpty
    if isPresent { remove(.invalidation, body) } else { body() }
  }

  /// Like ``remove(_:_:)``, for a removal that affects other keys alone, unless it is widened.
  func removeUnrelated(_ body: () -> Void) {
    if kind.widensRemovals { removePresent(body) } else { body() }
  }

  /// Like ``remove(_:_:)``, for a removal after memory evicted the key.
  func removeEvicted(_ body: () -> Void) {
    let record = journal.record
    if kind.isWritable || record.isOnlyInFile { return removePresent(body) }
    if !isFetching, record.edits.isEmpty { body() } else { remove(.invalidation, body) }
  }

  func lose(_ loss: Record.Loss, _ body: () -> Void) {
    let began = journal.tick()
    body()
    journal.noteLoss(loss, since: began)
  }

  /// Advances the clock by less than the grace period, so that stale values remain.
  func age(by duration: Duration) {
    lose(.aging) { clock.advance(by: duration) }
  }

  /// Runs an operation that waits for its commit, while a second task commits the tier repeatedly.
  func committing(_ body: @escaping @Sendable () async -> Void) async {
    let work = task(body)
    let isDone = Guarded(false)
    let committer = task {
      while !isDone.withLock({ $0 }) {
        tier?.commitAll()
        await Task.yield()
      }
    }
    await work.value
    isDone.withLock { $0 = true }
    await committer.value
  }

  // MARK: Writes that depend on the cached value

  func update() {
    var mark = 0
    var born = 0
    cache.updateValue(forKey: Self.key, tags: tagsOfDependentWrites) { document in
      born = journal.tick()
      mark = journal.mark(.update, isOverNothing: document == nil)
      document = (document ?? Document()).adding(mark)
    }
    journal.noteStored(mark, since: born)
  }

  func asynchronousUpdate() async {
    do {
      let (mark, born) = try await cache.updateValue(forKey: Self.key, tags: tagsOfDependentWrites) { document async in
        let born = journal.tick()
        let mark = journal.mark(.update, isOverNothing: document == nil)
        journal.change { $0.attempts += 1 }
        await checkpoint.pass(.transform)
        document = (document ?? Document()).adding(mark)
        return (mark, born)
      }
      journal.noteStored(mark, since: born)
    } catch {}
  }

  func edit(_ ending: OperationInProgress.EditEnding) async {
    let mark = journal.mark(.edit)
    let began = journal.tick()
    let number = journal.change { record in
      record.edits.append(Record.Edit(mark: mark, span: Record.Span(began: began)))
      return record.edits.count - 1
    }
    let answer = Recorder<Int>()
    let result: Result<Document?, any Error>
    do {
      let confirmed = try await cache.editValue(forKey: Self.key, options: UpdateOptions(tags: tagsOfDependentWrites)) {
        document in
        checkpoint.passAtOnce(.change)
        return ending == .removed ? nil : (document ?? Document()).adding(mark)
      } confirmedBy: {
        await checkpoint.pass(.confirmation)
        switch ending {
        case .confirmed, .removed: return nil
        case .answered:
          answer.record(journal.mark(.set))
          return Document(answer.elements[0])
        case .failed: throw Broken()
        }
      }
      result = .success(confirmed)
    } catch {
      result = .failure(error)
    }
    let span = journal.span(since: began)
    journal.change { record in
      record.edits[number].span = span
      switch result {
      case .success(.some):
        record.edits[number].isConfirmed = true
        if ending == .answered { record.erasures.append((.replacement, span)) }
        record.stored.append((answer.elements.first ?? mark, span))
      case .success(nil):
        if ending == .removed { record.erasures.append((.removal, span)) }
      case .failure: break
      }
    }
  }

  /// Saves a draft, and returns whether the save succeeded.
  @discardableResult
  func save(
    _ draft: Draft<String, Document>, onConflict policy: DraftConflictPolicy<String, Document> = .throw
  ) -> Bool {
    do {
      try draft.save(onConflict: policy)
      return true
    } catch {
      if error.code == .conflict { journal.change { $0.conflicts += 1 } }
      return false
    }
  }
}
