import Cistern
import CisternTesting

@testable import CisternCore

// Batches and drafts over two caches of the store. Each writes its mark to the key in both caches. Nothing else writes
// the other cache, and nothing removes from it.

extension Arena {
  /// A batch over both caches.
  func writeBoth() {
    guard let store, let other else { return }
    let batch = beginBoth()
    let result = Result {
      try store.batch { (writes: StoreBatch) -> Void in
        checkpoint.passAtOnce(.batchBody)
        write(batch.mark, to: writes, other)
      }
    }
    endBoth(batch, result)
  }

  /// A batch over both caches that waits for its commit.
  func commitBoth() async {
    guard let store, let other else { return }
    let batch = beginBoth()
    do {
      try await store.commitBatch { (writes: StoreBatch) -> Void in write(batch.mark, to: writes, other) }
      endBoth(batch, .success(()))
    } catch {
      endBoth(batch, .failure(error))
    }
  }

  private func endBoth(_ batch: (mark: Int, number: Int, began: Int), _ result: Result<Void, any Error>) {
    let isApplied = if case .success = result { true } else { false }
    endBoth(batch, isApplied: isApplied, replaces: true)
  }

  private func write(_ mark: Int, to batch: StoreBatch, _ other: Cache<String, Document>) {
    batch.setValue(Document(mark), forKey: Self.key, in: cache, tags: [Self.tag])
    batch.setValue(Document(mark), forKey: Self.key, in: other)
  }

  /// A draft over both caches, with the points between its reads, its writes and its save.
  func draftBoth() async {
    guard let store, let other else { return }
    let draft = store.draft()
    let mark = await readAndWriteBoth(draft, other)
    await checkpoint.pass(.draftWritten)
    saveBoth(draft, mark)
  }

  /// A nested draft over both caches, with the points after its reads and between the two saves.
  func draftBothNested() async {
    guard let store, let other else { return }
    let outer = store.draft()
    let inner = outer.draft()
    let mark = await readAndWriteBoth(inner, other)
    do {
      try inner.save()
    } catch {
      return journal.change { $0.conflicts += 1 }
    }
    await checkpoint.pass(.draftSaved)
    saveBoth(outer, mark)
  }

  /// Adds a mark to the documents of both caches in a draft, with the point after its reads. Returns the mark.
  private func readAndWriteBoth(_ draft: StoreDraft, _ other: Cache<String, Document>) async -> Int {
    let isOverNothing = cache[Self.key] == nil
    let documents = (draft[Self.key, in: cache], draft[Self.key, in: other])
    await checkpoint.pass(.draftRead)
    let mark = journal.mark(.draft, isOverNothing: isOverNothing)
    draft.setValue(
      (documents.0 ?? Document()).adding(mark), forKey: Self.key, in: cache, tags: tagsOfDependentWrites)
    draft.setValue((documents.1 ?? Document()).adding(mark), forKey: Self.key, in: other)
    return mark
  }

  /// A draft over both caches, at once.
  func draftBothAtOnce() {
    guard let store, let other else { return }
    let mark = journal.mark(.draft, isOverNothing: cache[Self.key] == nil)
    let draft = store.draft()
    draft.setValue(
      (draft[Self.key, in: cache] ?? Document()).adding(mark), forKey: Self.key, in: cache,
      tags: tagsOfDependentWrites)
    draft.setValue((draft[Self.key, in: other] ?? Document()).adding(mark), forKey: Self.key, in: other)
    saveBoth(draft, mark)
  }

  private func saveBoth(_ draft: StoreDraft, _ mark: Int) {
    let batch = beginBoth(mark)
    do {
      try draft.save()
      endBoth(batch, isApplied: true, replaces: false)
    } catch {
      if error.code == .conflict { journal.change { $0.conflicts += 1 } }
      endBoth(batch, isApplied: false, replaces: false)
    }
  }

  // MARK: The journal

  private func beginBoth(_ mark: Int? = nil) -> (mark: Int, number: Int, began: Int) {
    let began = journal.tick()
    let mark = mark ?? journal.mark(.set)
    let number = journal.change { record in
      record.joint.append(Record.Joint(mark: mark, span: Record.Span(began: began)))
      return record.joint.count - 1
    }
    return (mark, number, began)
  }

  private func endBoth(_ batch: (mark: Int, number: Int, began: Int), isApplied: Bool, replaces: Bool) {
    let span = journal.span(since: batch.began)
    journal.change { record in
      record.joint[batch.number].span = span
      record.joint[batch.number].isApplied = isApplied
    }
    guard isApplied else { return }
    journal.change { $0.acceptedBatches += 1 }
    if replaces {
      noteReplacement(by: batch.mark, since: batch.began)
    } else {
      journal.noteStored(batch.mark, since: batch.began)
    }
  }

  /// Reads the key in both caches, in both orders.
  func readBoth() {
    guard let other else { return }
    let (cache, began) = (cache, journal.tick())
    let first = cache[Self.key]
    let pairs = [(first, other[Self.key]), (nil, other[Self.key])]
    let last = cache[Self.key]
    let span = journal.span(since: began)
    journal.change { record in
      record.readPairs.append(Record.Pair(document: pairs[0].0, other: pairs[0].1, order: .keyFirst, span: span))
      record.readPairs.append(Record.Pair(document: last, other: pairs[1].1, order: .otherFirst, span: span))
    }
  }

  /// Notes the committed records of the key in both caches, as a process that starts now would find them.
  func noteBothOnDisk() {
    // In a custom tier, each cache has its own commits.
    guard let tier, other != nil, !kind.isOwn else { return }
    func document(in partition: String) -> Document? {
      tier.committedBytes(of: Self.key, in: partition).map { DocumentCodec().decode($0) }
    }
    let pair = Record.Pair(
      document: document(in: Self.partition), other: document(in: Self.otherPartition), order: .atOnce,
      span: journal.span(since: journal.tick()))
    journal.change { $0.readPairs.append(pair) }
  }

  /// Reads both caches again and again while the operations of a trial run.
  func readBoth(until isOver: @Sendable () -> Bool) async {
    guard other != nil else { return }
    for _ in 0..<40 where !isOver() {
      readBoth()
      noteBothOnDisk()
      await Task.yield()
    }
    readBoth()
    noteBothOnDisk()
  }
}
