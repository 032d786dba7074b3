import Cistern

extension Interference {
  /// Runs the operation.
  func run(in arena: Arena) async {
    switch self {
    case .commitSet: await arena.commitSet()
    case .asynchronousUpdate: await arena.asynchronousUpdate()
    case .edit: await arena.edit(.confirmed)
    case .failingEdit: await arena.edit(.failed)
    case .load: await arena.load(.cachedOrFetch)
    case .loadFreshOnly: await arena.load(.freshOnly)
    case .loadFreshElseStale: await arena.load(.freshElseStale)
    case .loadCachedOnly: await arena.load(.cachedOnly)
    case .reload: await arena.load(.reload)
    case .bulkLoad: await arena.bulkLoad()
    case .loadAnew: await arena.load(.fetchAnew)
    case .loadKeeping: await arena.loadAnew(.keeping)
    case .loadAbsent: await arena.loadAnew(.absence)
    case .bulkLoadWithContexts: await arena.bulkLoadWithContexts()
    case .removeByTagThenLoad: await arena.removeThenLoad()
    case .loadBystander: await arena.loadBystander()
    case .cancelJoiner: await arena.cancelJoiner()
    default: runAtOnce(in: arena)
    }
  }

  /// Runs a synchronous operation. Operations that suspend do nothing here.
  func runAtOnce(in arena: Arena) {
    let (cache, key) = (arena.cache, Arena.key)
    switch self {
    case .lookUp: _ = arena.lookUp()
    case .lookUpStale: _ = cache.value(forKey: key, staleUpTo: Arena.grace)
    case .set: arena.set()
    case .setEqual: arena.setEqual()
    case .setBystander: arena.setBystander()
    case .update: arena.update()
    case .draft: arena.saveDraft()
    case .batch: arena.saveBatch()
    case .remove: arena.remove { cache.removeValue(forKey: key) }
    case .batchedRemoval: arena.removeInBatch()
    case .removeAll: arena.remove { cache.removeAll() }
    case .removeByTag: arena.removePresent { cache.removeAll(tagged: Arena.tag) }
    case .removeByPrefix: arena.remove(.invalidation) { cache.removeAll(withPrefix: Arena.prefix) }
    case .removeWhere: arena.removePresent { cache.removeAll { _ in true } }
    case .evictThenRemoveWhere:
      arena.lose(.memoryEviction) { cache.trim(toCost: 0) }
      arena.removeEvicted { cache.removeAll { _ in true } }
    case .removeByOtherTag: arena.removeUnrelated { cache.removeAll(tagged: Arena.otherTag) }
    case .removeByOtherPrefix: arena.removeUnrelated { cache.removeAll(withPrefix: Arena.otherPrefix) }
    case .cancelCaller: for task in arena.callers.elements { task.cancel() }
    case .trim: arena.lose(.memoryEviction) { cache.trim(toCost: 0) }
    case .evictFromDisk: arena.lose(.diskEviction) { arena.tier?.evictRecord(of: key, in: Arena.partition) }
    case .commit: arena.tier?.commitAll()
    case .becomeStale: arena.becomeStale()
    case .expire: arena.lose(.expiry) { arena.clock.advance(by: Arena.lifetime + Arena.grace + .nanoseconds(1)) }
    case .batchOfBoth: arena.writeBoth()
    case .draftOfBoth: arena.draftBothAtOnce()
    case .observeContents: arena.observeContents("the contents from the second operation on")
    case .enumerate: arena.enumerate()
    case .refresh: arena.refresh()
    case .removeByTagInStore: arena.removeFromStore()
    case .setByOtherProcess: arena.changeFile(to: Document(arena.journal.mark(.situation)))
    case .removeByOtherProcess: arena.changeFile(to: nil)
    case .nothing, .commitSet, .asynchronousUpdate, .edit, .failingEdit, .load, .loadFreshOnly, .loadFreshElseStale,
      .loadCachedOnly, .reload, .bulkLoad, .loadBystander, .cancelJoiner, .loadAnew, .loadKeeping, .loadAbsent,
      .bulkLoadWithContexts, .removeByTagThenLoad:
      break
    }
  }
}

extension Arena {
  fileprivate func commitSet() async {
    let began = journal.tick()
    let mark = journal.mark(.set)
    await committing { try? await cache.commitValue(Document(mark), forKey: Self.key, tags: [Self.tag]) }
    noteReplacement(by: mark, since: began)
  }

  fileprivate func removeThenLoad() async {
    removePresent { cache.removeAll(tagged: Self.tag) }
    await load(.cachedOrFetch)
  }

  /// Removes all values with the tag from both caches.
  fileprivate func removeFromStore() {
    guard let store, let other else { return }
    other.setValue(Document(), forKey: Self.bystander, tags: [Self.tag])
    removePresent { store.removeAll(tagged: Self.tag) }
    if other[Self.bystander] != nil { journal.change { $0.incompleteRemovals += 1 } }
  }

  /// Advances the clock by more than the lifetime. A value with a time to idle is gone then.
  fileprivate func becomeStale() {
    lose(isIdling ? .expiry : .aging) { clock.advance(by: Self.lifetime + .nanoseconds(1)) }
  }

  fileprivate func removeInBatch() {
    let began = journal.tick()
    guard (try? cache.batch { $0.removeValue(forKey: Self.key) }) != nil else { return }
    journal.change { $0.acceptedBatches += 1 }
    journal.noteErasure(.removal, since: began)
  }

  /// Stores the current value again.
  fileprivate func setEqual() {
    guard journal.record.edits.isEmpty, let document = cache[Self.key] else { return }
    cache.setValue(document, forKey: Self.key, tags: [Self.tag])
    journal.change { $0.equalWrites += 1 }
  }

  /// Changes the record of the key, as another process does.
  fileprivate func changeFile(to document: Document?) {
    lose(.foreignWrite) { file?.change(to: document, at: clock.wallTime()) }
  }

  func setBystander() {
    cache.setValue(Document(), forKey: Self.bystander, tags: [Self.otherTag])
  }

  fileprivate func saveDraft() {
    let draft = cache.draft()
    let mark = journal.mark(.draft)
    draft.setValue((draft[Self.key] ?? Document()).adding(mark), forKey: Self.key, tags: tagsOfDependentWrites)
    let began = journal.tick()
    if save(draft) { journal.noteStored(mark, since: began) }
  }

  fileprivate func saveBatch() {
    let began = journal.tick()
    let mark = journal.mark(.set)
    let document = Document(mark)
    guard (try? cache.batch({ $0.setValue(document, forKey: Self.key, tags: [Self.tag]) })) != nil else { return }
    journal.change { $0.acceptedBatches += 1 }
    noteReplacement(by: mark, since: began)
  }

  /// Cancels a caller after it joined the flight in progress, or began a flight.
  fileprivate func cancelJoiner() async {
    let waiting = cache.statistics.waiterCount
    let joiner = task { await load(.freshOnly) }
    for _ in 0..<20 where cache.statistics.waiterCount <= waiting { await Task.yield() }
    joiner.cancel()
    await joiner.value
  }
}
