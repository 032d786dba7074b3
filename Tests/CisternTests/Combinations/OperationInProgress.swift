/// The first operation of a combination: the one that another meets on its way.
enum OperationInProgress: Hashable, Sendable {
  case lookUp
  case load(LoadForm)
  case update
  case edit(EditEnding)
  case draft(DraftForm)
  case batch(BatchForm)
  /// A set in a cache that merges.
  case mergingSet

  enum LoadForm: CaseIterable, Sendable {
    case plain, freshElseStale, refresh, bulk
    /// A refresh in a cache that merges.
    case mergingRefresh
    /// The fetch throws, and a stale value is returned instead. The same caller loads once more.
    case failing
    /// A refresh whose fetch throws.
    case failingRefresh
    /// The caller leaves with a stale value, and the flight goes on.
    case softTimeout
    /// The caller leaves with a stale value when its time is over. The same caller loads once more.
    case timeout
    /// A second caller with a timeout joins the flight of the first.
    case joiningWithTimeout
    /// The same, where the flight is of a bulk load, whose fetch leaves the key out.
    case joiningBulkWithTimeout
    /// In a cache that fetches one key at a time.
    case limited
  }

  enum EditEnding: CaseIterable, Sendable {
    /// The changed value stays.
    case confirmed
    /// The server's value replaces it.
    case answered
    /// It is taken back.
    case failed
    /// The change is a removal, which stays.
    case removed
  }

  enum DraftForm: CaseIterable, Sendable {
    /// A conflict throws.
    case plain
    /// The same, in a cache that compares values.
    case comparing
    /// A conflict is decided for the draft.
    case mine
    /// A conflict is merged.
    case merging
    /// The draft of a draft; the outer one saves, or discards, another key in between.
    case nestedInSaved, nestedInDiscarded
    /// In a cache that merges, a draft and the draft of it each write a part.
    case parts
  }

  enum BatchForm: CaseIterable, Sendable {
    case plain
    /// Waits until it is on disk.
    case committed
    /// In a cache that merges, two writes of the key each bring a part.
    case parts
  }

  static let all: [OperationInProgress] =
    [.lookUp, .update, .mergingSet] + LoadForm.allCases.map { .load($0) } + EditEnding.allCases.map { .edit($0) }
    + DraftForm.allCases.map { .draft($0) } + BatchForm.allCases.map { .batch($0) }

  /// What the key may have before.
  var situations: [Situation] {
    switch self {
    case .lookUp: [.onDisk, .staleOnDisk]
    case .load(.plain): [.absent, .due, .stale, .onDisk, .dueOnDisk, .staleOnDisk, .newerRecord]
    case .load(.bulk): [.absent, .stale, .onDisk, .staleOnDisk]
    case .load(.refresh), .load(.mergingRefresh), .load(.failingRefresh): [.absent, .fresh, .stale, .onDisk]
    case .load(.freshElseStale), .load(.failing), .load(.softTimeout), .load(.timeout): [.stale, .staleOnDisk]
    case .load(.joiningWithTimeout), .load(.joiningBulkWithTimeout), .load(.limited): [.absent]
    case .update: [.absent, .fresh, .onDisk, .newerRecord]
    case .edit(.removed): [.fresh, .onDisk]
    case .edit: [.absent, .fresh, .onDisk]
    case .draft(.plain), .draft(.merging): [.absent, .fresh, .onDisk]
    case .draft: [.fresh]
    case .batch(.plain), .batch(.committed): [.absent, .fresh, .onDisk]
    case .batch(.parts): [.absent, .fresh]
    case .mergingSet: [.absent, .fresh, .onDisk]
    }
  }

  /// Where another operation can meet it, from a situation.
  func points(from situation: Situation) -> [SuspensionPoint] {
    points.filter { point in
      switch (point, self) {
      // Memory has it.
      case (.secondTierRead, _): situation.isOnDiskOnly || !situation.hasValue
      case (.merge, _): situation.hasValue
      // Nothing is fetched.
      case (.fetch, .load(.plain)), (.room, .load(.plain)), (.fetch, .load(.bulk)): situation != .onDisk
      // Nothing is stored.
      case (.room, .edit(.failed)): false
      default: true
      }
    }
  }

  private var points: [SuspensionPoint] {
    switch self {
    case .lookUp: [.secondTierRead]
    case .load(.plain), .load(.bulk): [.secondTierRead, .fetch, .room, .answered]
    case .load(.refresh), .load(.freshElseStale): [.fetch, .room]
    case .load(.mergingRefresh): [.fetch, .merge]
    case .load(.failing): [.fetch, .answered]
    case .load(.failingRefresh), .load(.limited): [.fetch]
    case .load(.softTimeout), .load(.timeout): [.answered]
    case .load(.joiningWithTimeout), .load(.joiningBulkWithTimeout): [.led, .joined]
    case .update: [.secondTierRead, .transform, .room]
    case .edit: [.change, .confirmation, .room]
    case .draft(.parts): [.draftWritten]
    case .draft: [.draftRead, .draftWritten]
    case .batch(.plain), .batch(.parts): [.batchBody]
    case .batch(.committed): [.room]
    case .mergingSet: [.merge]
    }
  }

  /// Whether the cache makes one value of the cached and the incoming one.
  var merges: Bool {
    switch self {
    case .mergingSet, .load(.mergingRefresh), .draft(.parts), .batch(.parts): true
    case .lookUp, .load, .update, .edit, .draft, .batch: false
    }
  }

  /// Whether the cache knows equal values.
  var comparesValues: Bool { self == .draft(.comparing) }
}
