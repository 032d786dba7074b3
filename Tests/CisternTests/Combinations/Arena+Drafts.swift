import Cistern

// The drafts of one cache, with the points between their reads, their writes and their saves.

extension Arena {
  func run(_ form: OperationInProgress.DraftForm) async {
    switch form {
    case .plain, .comparing: await write(cache.draft(), onConflict: .throw)
    case .mine: await overwrite()
    case .merging: await writeMerging()
    case .nestedInSaved: await writeNested { self.save($0) }
    case .nestedInDiscarded: await writeNested { $0.discard() }
    case .parts: await writeDraftParts()
    case .partOverConflict: await writePartOverConflict()
    }
  }

  private func write(
    _ draft: Draft<String, Document>, onConflict policy: DraftConflictPolicy<String, Document>
  ) async {
    let mark = journal.mark(.draft, isOverNothing: cache[Self.key] == nil)
    let document = draft[Self.key]
    await checkpoint.pass(.draftRead)
    draft.setValue((document ?? Document()).adding(mark), forKey: Self.key, tags: tagsOfDependentWrites)
    await checkpoint.pass(.draftWritten)
    let began = journal.tick()
    if save(draft, onConflict: policy) { journal.noteStored(mark, since: began) }
  }

  private func overwrite() async {
    let draft = cache.draft()
    _ = draft[Self.key]
    await checkpoint.pass(.draftRead)
    let mark = journal.mark(.draft)
    draft.setValue(Document(mark), forKey: Self.key, tags: [Self.tag])
    await checkpoint.pass(.draftWritten)
    let began = journal.tick()
    journal.change { $0.marks[mark] = Record.Mark(author: .draft, born: began) }
    if save(draft, onConflict: .mine) { noteReplacement(by: mark, since: began) }
  }

  private func writeMerging() async {
    let draft = cache.draft()
    let document = draft[Self.key]
    await checkpoint.pass(.draftRead)
    let mark = journal.mark(.draft)
    draft.setValue((document ?? Document()).adding(mark), forKey: Self.key, tags: tagsOfDependentWrites)
    await checkpoint.pass(.draftWritten)
    let began = journal.tick()
    journal.change { $0.marks[mark] = Record.Mark(author: .draft, born: began) }
    let isSaved = save(draft, onConflict: .merge { ($0.theirs ?? Document()).adding(mark) })
    if isSaved { journal.noteStored(mark, since: began) }
  }

  /// Reads and writes the key in a nested draft. Between the read and the write, `end` saves or discards the outer
  /// draft.
  private func writeNested(_ end: (Draft<String, Document>) -> Void) async {
    let outer = cache.draft()
    let inner = outer.draft()
    let mark = journal.mark(.draft, isOverNothing: cache[Self.key] == nil)
    let document = inner[Self.key]
    outer[Self.bystander] = Document()
    end(outer)
    await checkpoint.pass(.draftRead)
    inner.setValue((document ?? Document()).adding(mark), forKey: Self.key, tags: tagsOfDependentWrites)
    await checkpoint.pass(.draftWritten)
    guard save(inner) else { return }
    let began = journal.tick()
    if save(outer) { journal.noteStored(mark, since: began) }
  }

  private func writePartOverConflict() async {
    let draft = cache.draft()
    _ = draft[Self.key]
    let mark = journal.mark(.draft)
    draft.setValue(Document(mark), forKey: Self.key, tags: [Self.tag])
    await checkpoint.pass(.draftWritten)
    let began = journal.tick()
    journal.change { $0.marks[mark] = Record.Mark(author: .draft, born: began) }
    if save(draft, onConflict: .merge { $0.mine }) { journal.noteStored(mark, since: began) }
  }

  private func writeDraftParts() async {
    let outer = cache.draft()
    let inner = outer.draft()
    let marks = [journal.mark(.draft), journal.mark(.draft)]
    outer.setValue(Document(marks[0]), forKey: Self.key)
    inner.setValue(Document(marks[1]), forKey: Self.key)
    await checkpoint.pass(.draftWritten)
    guard save(inner) else { return }
    let began = journal.tick()
    guard save(outer) else { return }
    for mark in marks { journal.noteStored(mark, since: began) }
  }
}
