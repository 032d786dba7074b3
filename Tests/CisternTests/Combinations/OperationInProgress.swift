/// The first operation of a combination, which is in progress when the second one runs.
enum OperationInProgress: Hashable, Sendable {
  case lookUp
  case load(LoadForm)
  case update
  case edit(EditEnding)
  case draft(DraftForm)
  case batch(BatchForm)
  /// A set in a cache that merges.
  case mergingSet
  /// A batch or a draft over two caches of the store.
  case both(BothForm)
  /// An observation of the contents of the cache.
  case contents
  /// An enumeration of the entries.
  case enumeration

  enum LoadForm: CaseIterable, Sendable {
    case plain, freshElseStale, refresh, bulk
    /// A refresh in a cache that merges.
    case mergingRefresh
    /// The fetch throws, and the load returns a stale value instead. The same caller loads again.
    case failing
    /// A refresh whose fetch throws.
    case failingRefresh
    /// The caller returns with a stale value at its soft timeout, and the flight continues.
    case softTimeout
    /// The caller returns with a stale value when its timeout ends. The same caller loads again.
    case timeout
    /// A second caller with a timeout joins the flight of the first.
    case joiningWithTimeout
    /// A second caller with a timeout joins the flight of a bulk load whose fetch does not return the key.
    case joiningBulkWithTimeout
    /// The caller of a bulk load is cancelled, and the fetch continues for a caller of its other key.
    case leavingBulk
    /// A load in a cache with a fetch limit of one.
    case limited
    /// A refresh whose fetch keeps the stored value, if there is one.
    case keeping
    /// A refresh whose fetch announces its document early.
    case announcing
    /// A refresh whose fetch finds that the origin has no value.
    case absent
    /// A refresh whose fetch returns a document that is not stored.
    case returning
    /// A refresh whose fetch returns a document that is not stored, and removes the stored one.
    case removing
    /// A bulk load with contexts, whose fetch keeps the stored value, if there is one.
    case bulkWithContexts
    /// A refresh without a caller.
    case requestedRefresh
    /// A load in a cache with separate windows for stale values.
    case windowed
    /// Like the case above, with a fetch that throws. The same caller loads again.
    case failingWindowed
    /// A refresh whose fetch throws and opens the circuit breaker. The same caller refreshes again while the breaker is
    /// open, and when it is half-open.
    case breaking
  }

  enum EditEnding: CaseIterable, Sendable {
    /// The confirmation succeeds, and the changed value is stored.
    case confirmed
    /// The confirmation returns the server's value, which replaces the changed value.
    case answered
    /// The confirmation throws, and the change is rolled back.
    case failed
    /// The change removes the key, and the confirmation succeeds.
    case removed
  }

  enum DraftForm: CaseIterable, Sendable {
    /// A conflict throws an error.
    case plain
    /// A conflict throws an error, in a cache that compares values.
    case comparing
    /// The draft's value wins a conflict.
    case mine
    /// A conflict is merged.
    case merging
    /// A nested draft whose outer draft saves or discards another key between its read and its write.
    case nestedInSaved, nestedInDiscarded
    /// A draft and its nested draft each write a part of the value, in a cache that merges.
    case parts
    /// A draft writes a part of the value, and the part wins a conflict, in a cache that merges.
    case partOverConflict
  }

  enum BatchForm: CaseIterable, Sendable {
    case plain
    /// A batch that waits for its commit to disk.
    case committed
    /// A batch with two partial writes of the key, in a cache that merges.
    case parts
    /// A batch that removes the key and then writes it, in a cache that merges.
    case partAfterRemoval
  }

  enum BothForm: CaseIterable, Sendable {
    case batch
    /// A batch that waits for its commit to disk.
    case committed
    case draft
    /// A nested draft. It is saved into the outer draft, and then the outer one into the caches.
    case nestedDraft
  }

  static let all: [OperationInProgress] =
    [.lookUp, .update, .mergingSet, .contents, .enumeration] + LoadForm.allCases.map { .load($0) }
    + EditEnding.allCases.map { .edit($0) }
    + DraftForm.allCases.map { .draft($0) } + BatchForm.allCases.map { .batch($0) }
    + BothForm.allCases.map { .both($0) }

  /// The initial situations of the key that the operation supports in a cache of this kind.
  func situations(in kind: CacheKind) -> [Situation] {
    if kind.usesMemory { return situations.filter { $0.exists(in: kind) } }
    // A value that memory would hold is on disk.
    let onDisk = Set(situations.map(\.onDiskOnly))
    return Situation.allCases.filter { onDisk.contains($0) }
  }

  private var situations: [Situation] {
    switch self {
    case .lookUp: [.onDisk, .staleOnDisk, .dueUseOnDisk, .olderRecord]
    case .load(.plain):
      [.absent, .due, .stale, .onDisk, .dueOnDisk, .staleOnDisk, .dueUseOnDisk, .olderRecord, .newerRecord]
    case .load(.bulk): [.absent, .stale, .onDisk, .staleOnDisk, .olderRecord]
    case .load(.refresh), .load(.mergingRefresh), .load(.failingRefresh): [.absent, .fresh, .stale, .onDisk]
    case .load(.freshElseStale), .load(.failing), .load(.softTimeout), .load(.timeout): [.stale, .staleOnDisk]
    case .load(.keeping): [.absent, .fresh, .stale, .onDisk, .staleOnDisk, .dueUseOnDisk, .olderRecord]
    case .load(.announcing): [.absent, .stale, .onDisk]
    case .load(.absent), .load(.requestedRefresh): [.absent, .fresh, .onDisk]
    case .load(.returning): [.absent, .onDisk]
    case .load(.removing): [.stale, .staleOnDisk]
    case .load(.bulkWithContexts): [.stale, .staleOnDisk]
    case .load(.windowed): [.stale, .staleForErrors, .staleForErrorsOnDisk]
    case .load(.failingWindowed): [.staleForErrors, .staleForErrorsOnDisk]
    case .load(.breaking): [.absent, .stale]
    case .load(.joiningWithTimeout), .load(.joiningBulkWithTimeout), .load(.leavingBulk), .load(.limited): [.absent]
    case .update: [.absent, .fresh, .onDisk, .dueUseOnDisk, .olderRecord, .newerRecord]
    case .edit(.removed): [.fresh, .onDisk]
    case .edit(.confirmed): [.absent, .fresh, .onDisk, .dueUseOnDisk, .olderRecord]
    case .edit: [.absent, .fresh, .onDisk]
    case .draft(.merging): [.absent, .fresh, .onDisk, .dueUseOnDisk, .olderRecord]
    case .draft(.plain): [.absent, .fresh, .onDisk]
    case .draft: [.fresh]
    case .batch(.plain), .batch(.committed): [.absent, .fresh, .onDisk]
    case .batch(.parts): [.absent, .fresh]
    case .batch(.partAfterRemoval): [.fresh]
    case .mergingSet: [.absent, .fresh, .onDisk, .olderRecord]
    case .both(.nestedDraft): [.absent, .fresh]
    case .both: [.absent, .fresh, .onDisk]
    case .enumeration: [.absent, .fresh, .onDisk, .dueUseOnDisk, .olderRecord, .newerRecord]
    case .contents: [.absent, .fresh, .stale, .onDisk, .staleOnDisk, .dueUseOnDisk, .olderRecord]
    }
  }

  /// Returns the suspension points that the operation reaches from a situation.
  func points(from situation: Situation) -> [SuspensionPoint] {
    points.filter { point in
      switch (point, self) {
      // A value in memory needs no read of the second tier.
      case (.secondTierRead, _): situation.isOnDiskOnly || !situation.hasValue
      case (.merge, _): situation.hasValue
      case (.fetch, .load(.plain)), (.room, .load(.plain)), (.fetch, .load(.bulk)): !situation.needsNoFetch
      // A failed edit stores no value.
      case (.room, .edit(.failed)): false
      default: true
      }
    }
  }

  private var points: [SuspensionPoint] {
    switch self {
    case .lookUp: [.secondTierRead]
    case .load(.plain), .load(.bulk): [.secondTierRead, .fetch, .room, .answered]
    case .load(.refresh), .load(.freshElseStale), .load(.keeping), .load(.announcing): [.fetch, .room]
    case .load(.mergingRefresh): [.fetch, .merge]
    case .load(.failing), .load(.failingWindowed): [.fetch, .answered]
    case .load(.failingRefresh), .load(.limited), .load(.absent), .load(.returning), .load(.removing), .load(.windowed),
      .load(.bulkWithContexts), .load(.requestedRefresh):
      [.fetch]
    case .load(.breaking): [.answered]
    case .load(.softTimeout), .load(.timeout): [.answered]
    case .load(.joiningWithTimeout), .load(.joiningBulkWithTimeout): [.led, .joined]
    case .load(.leavingBulk): [.led, .room]
    case .update: [.secondTierRead, .transform, .room]
    case .edit: [.change, .confirmation, .room]
    case .draft(.parts), .draft(.partOverConflict): [.draftWritten]
    case .draft: [.draftRead, .draftWritten]
    case .batch(.plain), .batch(.parts), .batch(.partAfterRemoval): [.batchBody]
    case .batch(.committed): [.room]
    case .mergingSet: [.merge]
    case .both(.batch): [.batchBody]
    case .both(.committed): [.room]
    case .both(.draft): [.draftRead, .draftWritten]
    case .both(.nestedDraft): [.draftRead, .draftSaved]
    case .enumeration: [.enumerationBegun, .enumerationRead]
    case .contents: [.contentsBegun, .contentsRead]
    }
  }

  /// Whether the cache merges the incoming value with the cached one.
  var merges: Bool {
    switch self {
    case .mergingSet, .load(.mergingRefresh), .draft(.parts), .draft(.partOverConflict), .batch(.parts),
      .batch(.partAfterRemoval):
      true
    case .lookUp, .load, .update, .edit, .draft, .batch, .both, .contents, .enumeration: false
    }
  }

  /// Whether the cache has separate windows for stale values.
  var hasWindows: Bool { self == .load(.windowed) || self == .load(.failingWindowed) }

  /// Whether a cache of this kind has the operation: only caches of a store have batches over several caches.
  func exists(in kind: CacheKind) -> Bool {
    if case .both = self { kind != .memory } else { true }
  }

  /// Whether the cache compares values.
  var comparesValues: Bool { self == .draft(.comparing) }
}
