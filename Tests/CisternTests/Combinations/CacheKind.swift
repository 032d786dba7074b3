/// Where a trial's cache keeps its values.
enum CacheKind: CaseIterable, Sendable {
  /// A cache without a store.
  case memory
  /// A cache of a store without a disk.
  case memoryStore
  /// A cache of a store on disk.
  case disk
  /// The same, whose memory has room for one value.
  case diskBehindOneValue

  /// Whether a value that memory evicts is still there.
  var keepsEvicted: Bool {
    switch self {
    case .memory, .memoryStore: false
    case .disk, .diskBehindOneValue: true
    }
  }

  /// The highest total cost of the values in memory; each value costs 1.
  var memoryLimit: Int { self == .diskBehindOneValue ? 1 : 1_000 }
}
