/// The second operation of a combination: the one that comes while the first is in progress.
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
  case cancelCaller
  /// Another caller joins and is cancelled.
  case cancelJoiner
  case trim, evictFromDisk, commit
  case becomeStale, expire

  /// Whether it is over when its call returns.
  var isSynchronous: Bool {
    switch self {
    case .commitSet, .asynchronousUpdate, .edit, .failingEdit, .load, .loadFreshOnly, .loadFreshElseStale,
      .loadCachedOnly, .reload, .bulkLoad, .loadBystander, .cancelJoiner:
      false
    case .nothing, .lookUp, .lookUpStale, .set, .setEqual, .setBystander, .update, .draft, .batch, .remove,
      .batchedRemoval, .removeAll, .removeByTag, .removeByPrefix, .removeWhere, .removeByOtherTag, .removeByOtherPrefix,
      .evictThenRemoveWhere, .cancelCaller, .trim, .evictFromDisk, .commit, .becomeStale, .expire:
      true
    }
  }

  /// Whether it concerns the key only by reading it, or not at all.
  var leavesKeyAlone: Bool {
    switch self {
    case .nothing, .lookUp, .lookUpStale, .setBystander, .removeByOtherTag, .removeByOtherPrefix, .loadBystander, .trim,
      .commit:
      true
    case .set, .setEqual, .commitSet, .update, .asynchronousUpdate, .edit, .failingEdit, .draft, .batch, .remove,
      .batchedRemoval, .removeAll, .removeByTag, .removeByPrefix, .removeWhere, .evictThenRemoveWhere, .load,
      .loadFreshOnly, .loadFreshElseStale, .loadCachedOnly, .reload, .bulkLoad, .cancelCaller, .cancelJoiner,
      .evictFromDisk, .becomeStale, .expire:
      false
    }
  }

  /// Whether it is a load that returns a fresh value which a look-up finds, whatever else is in progress.
  var returnsFreshValue: Bool {
    switch self {
    case .load, .loadFreshOnly, .loadFreshElseStale, .loadCachedOnly, .bulkLoad: true
    default: false
    }
  }

  func exists(in kind: CacheKind) -> Bool {
    switch self {
    case .evictFromDisk, .commit, .commitSet: kind.keepsEvicted
    default: true
    }
  }
}
