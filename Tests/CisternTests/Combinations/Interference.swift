/// The second operation of a combination, which runs while the first is in progress.
enum Interference: CaseIterable, Hashable, Sendable {
  case nothing
  case lookUp, lookUpStale
  case set, setEqual, commitSet, setBystander
  case update, asynchronousUpdate, edit, failingEdit, draft, batch
  case remove, batchedRemoval, removeAll, removeByTag, removeByPrefix, removeWhere
  case removeByOtherTag, removeByOtherPrefix
  /// Memory evicts the key, and then a predicate removes all keys.
  case evictThenRemoveWhere
  case load, loadFreshOnly, loadFreshElseStale, loadCachedOnly, reload, bulkLoad, loadBystander
  case loadAnew, loadKeeping, loadAbsent, bulkLoadWithContexts
  /// A refresh without a caller.
  case refresh
  /// A removal of all values with the tag, and a load after it.
  case removeByTagThenLoad
  case cancelCaller
  /// Another caller joins the flight and is cancelled.
  case cancelJoiner
  case trim, evictFromDisk, commit
  case becomeStale, expire
  /// A batch and a draft over two caches of the store.
  case batchOfBoth, draftOfBoth
  /// A removal of all values with the tag from all caches of the store.
  case removeByTagInStore
  /// An observation of the contents begins.
  case observeContents
  /// An enumeration of the entries, page by page.
  case enumerate
  /// Another process, which shares the file of a read-only store, writes or removes the key.
  case setByOtherProcess, removeByOtherProcess

  /// Whether the operation is complete when its call returns.
  var isSynchronous: Bool {
    switch self {
    case .commitSet, .asynchronousUpdate, .edit, .failingEdit, .load, .loadFreshOnly, .loadFreshElseStale,
      .loadCachedOnly, .reload, .bulkLoad, .loadBystander, .cancelJoiner, .loadAnew, .loadKeeping, .loadAbsent,
      .bulkLoadWithContexts, .removeByTagThenLoad:
      false
    case .nothing, .lookUp, .lookUpStale, .set, .setEqual, .setBystander, .update, .draft, .batch, .remove,
      .batchedRemoval, .removeAll, .removeByTag, .removeByPrefix, .removeWhere, .removeByOtherTag, .removeByOtherPrefix,
      .evictThenRemoveWhere, .cancelCaller, .trim, .evictFromDisk, .commit, .becomeStale, .expire, .batchOfBoth,
      .draftOfBoth, .removeByTagInStore, .observeContents, .enumerate, .refresh, .setByOtherProcess,
      .removeByOtherProcess:
      true
    }
  }

  /// Whether the operation only reads the key or does not use it, in a cache of this kind.
  func leavesKeyAlone(in kind: CacheKind) -> Bool {
    if kind.widensRemovals, self == .removeByOtherTag || self == .removeByOtherPrefix { return false }
    return leavesKeyAlone
  }

  private var leavesKeyAlone: Bool {
    switch self {
    case .nothing, .lookUp, .lookUpStale, .setBystander, .removeByOtherTag, .removeByOtherPrefix, .loadBystander, .trim,
      .commit, .observeContents, .enumerate:
      true
    case .set, .setEqual, .commitSet, .update, .asynchronousUpdate, .edit, .failingEdit, .draft, .batch, .remove,
      .batchedRemoval, .removeAll, .removeByTag, .removeByPrefix, .removeWhere, .evictThenRemoveWhere, .load,
      .loadFreshOnly, .loadFreshElseStale, .loadCachedOnly, .reload, .bulkLoad, .loadAnew, .loadKeeping, .loadAbsent,
      .bulkLoadWithContexts, .refresh, .removeByTagThenLoad, .cancelCaller, .cancelJoiner, .evictFromDisk, .becomeStale,
      .expire, .batchOfBoth, .draftOfBoth, .removeByTagInStore, .setByOtherProcess, .removeByOtherProcess:
      false
    }
  }

  /// Whether the operation is a load that must return a fresh value found by a lookup, regardless of other
  /// operations.
  var returnsFreshValue: Bool {
    switch self {
    case .load, .loadFreshOnly, .loadFreshElseStale, .loadCachedOnly, .bulkLoad, .bulkLoadWithContexts: true
    default: false
    }
  }

  func exists(in kind: CacheKind) -> Bool {
    switch self {
    case .evictFromDisk, .commit: kind.isWritable
    case .commitSet: kind.hasSecondTier
    case .batchOfBoth, .draftOfBoth, .removeByTagInStore: kind != .memory
    case .setByOtherProcess, .removeByOtherProcess: kind.isReadOnly
    default: true
    }
  }

  var isBulkLoad: Bool { self == .bulkLoad || self == .bulkLoadWithContexts }

  /// Whether another process writes.
  var isOfOtherProcess: Bool { self == .setByOtherProcess || self == .removeByOtherProcess }

  /// Whether the operation removes all values with the tag.
  var removesTag: Bool { self == .removeByTag || self == .removeByTagInStore || self == .removeByTagThenLoad }
}
