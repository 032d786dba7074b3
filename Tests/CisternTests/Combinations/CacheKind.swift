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

  /// Whether a value is still available after memory evicts it.
  var keepsEvicted: Bool {
    switch self {
    case .memory, .memoryStore: false
    case .disk, .diskBehindOneValue: true
    }
  }

  /// The highest total cost of the values in memory; each value costs 1.
  var memoryLimit: Int { self == .diskBehindOneValue ? 1 : 1_000 }
}
