/// The storage of a trial's cache.
enum CacheKind: CaseIterable, Sendable {
  /// A cache without a store.
  case memory
  /// A cache of a store without a disk.
  case memoryStore
  /// A cache of a store on disk.
  case disk
  /// A cache of a store on disk, with a memory limit of one value.
  case diskBehindOneValue
  /// A cache of a store on disk that has its values on disk only.
  case diskOnly
  /// A cache over a second tier of the user that invalidates exactly, and loses records at any time.
  case ownTier
  /// A cache that has its values in such a tier only.
  case ownTierOnly
  /// A cache over a second tier of the user that implements nothing optional. It removes all records in place of those
  /// that an invalidation concerns.
  case wideningTier
  /// A cache that has its values in such a tier only.
  case wideningTierOnly
  /// A cache of a read-only store. The file has values of another process, and new values stay in memory.
  case readOnly
  /// A cache of a read-only store that has its values on disk only. Each write is lost, and a batch throws.
  case readOnlyDiskOnly

  var hasSecondTier: Bool { self != .memory && self != .memoryStore }

  var isReadOnly: Bool { self == .readOnly || self == .readOnlyDiskOnly }

  /// Whether the second tier takes each write.
  var isWritable: Bool { hasSecondTier && !isReadOnly }

  /// Whether a tier takes each write.
  var keepsWrites: Bool { self != .readOnlyDiskOnly }

  /// Whether the second tier is a type of the user, which has no transactions.
  var isOwn: Bool {
    switch self {
    case .ownTier, .ownTierOnly, .wideningTier, .wideningTierOnly: true
    case .memory, .memoryStore, .disk, .diskBehindOneValue, .diskOnly, .readOnly, .readOnlyDiskOnly: false
    }
  }

  /// Whether a removal by tag or prefix removes all keys of the cache, in both tiers.
  var widensRemovals: Bool { self == .wideningTier || self == .wideningTierOnly }

  /// Whether memory holds values.
  var usesMemory: Bool {
    switch self {
    case .diskOnly, .ownTierOnly, .wideningTierOnly, .readOnlyDiskOnly: false
    case .memory, .memoryStore, .disk, .diskBehindOneValue, .ownTier, .wideningTier, .readOnly: true
    }
  }

  /// The memory limit of the store; each value costs 1.
  var memoryLimit: Int { self == .diskBehindOneValue ? 1 : 1_000 }

  /// The highest total cost of the cache's values in memory.
  var highestCost: Int { usesMemory ? memoryLimit : 0 }

  /// The number of trials on real threads.
  var threadTrials: Int {
    switch self {
    case .memory, .memoryStore: 400
    case .disk, .diskBehindOneValue: 60
    case .ownTier, .ownTierOnly, .wideningTier, .wideningTierOnly: 40
    case .diskOnly, .readOnly, .readOnlyDiskOnly: 10
    }
  }

  /// The number of combinations for each seed of the usual tests. A run with more seeds tries all of them.
  var combinationsPerSeed: Int {
    switch self {
    case .memory, .memoryStore, .disk, .diskBehindOneValue: 1
    case .diskOnly, .ownTier, .ownTierOnly, .wideningTier, .wideningTierOnly, .readOnly, .readOnlyDiskOnly: 16
    }
  }
}
