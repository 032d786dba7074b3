/// The state of a trial's key before the first operation begins.
enum Situation: CaseIterable, Sendable {
  case absent
  case fresh
  /// Fresh, and past the fraction of its lifetime after which a load refreshes it.
  case due
  /// Past its lifetime, and within its grace period.
  case stale
  /// Past the window in which a load returns it at once, and within the window after errors. Both windows are the whole
  /// grace, unless the operation has a cache with separate ones.
  case staleForErrors
  /// Like the four cases above, but evicted from memory.
  case onDisk, dueOnDisk, staleOnDisk, staleForErrorsOnDisk
  /// On disk only, with a time to idle. The next use is written to disk.
  case dueUseOnDisk
  /// A record that an older version of the cache's schema wrote, and that the first read migrates.
  case olderRecord
  /// A record that a newer version of the cache's schema wrote, and that is absent for this cache.
  case newerRecord

  var isOnDiskOnly: Bool {
    switch self {
    case .absent, .fresh, .due, .stale, .staleForErrors: false
    case .onDisk, .dueOnDisk, .staleOnDisk, .staleForErrorsOnDisk, .dueUseOnDisk, .olderRecord, .newerRecord: true
    }
  }

  /// The same situation after memory evicted the value.
  var onDiskOnly: Situation {
    switch self {
    case .fresh: .onDisk
    case .due: .dueOnDisk
    case .stale: .staleOnDisk
    case .staleForErrors: .staleForErrorsOnDisk
    case .absent, .onDisk, .dueOnDisk, .staleOnDisk, .staleForErrorsOnDisk, .dueUseOnDisk, .olderRecord, .newerRecord:
      self
    }
  }

  var isStale: Bool { self == .stale || self == .staleOnDisk || isStaleForErrors }
  var isStaleForErrors: Bool { self == .staleForErrors || self == .staleForErrorsOnDisk }
  var isDue: Bool { self == .due || self == .dueOnDisk }
  /// Whether a load finds a fresh value on disk, and starts no refresh.
  var needsNoFetch: Bool { self == .onDisk || self == .dueUseOnDisk || self == .olderRecord }

  /// Whether the cache has a value, fresh or stale.
  var hasValue: Bool { self != .absent && self != .newerRecord }

  func exists(in kind: CacheKind) -> Bool { !isOnDiskOnly || kind.hasSecondTier }
}
