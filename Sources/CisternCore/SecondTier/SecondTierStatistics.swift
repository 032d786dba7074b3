/// The counters of a second tier since it was opened, and its current sizes.
public struct SecondTierStatistics: Sendable, Equatable {
  /// The operating state of a second tier.
  public enum Mode: Sendable, Equatable {
    /// The tier reads and writes.
    case active
    /// The tier was opened for reading only.
    case readOnly
    /// The disk fails. The tier refuses writes until the disk works again. Reads find committed records if the file can
    /// be read, and are misses otherwise.
    case degraded
    /// The tier is closed.
    case closed
  }

  /// The operating state.
  public var mode: Mode
  /// The number of live committed records, as far as known without a scan.
  ///
  /// Records that an invalidation by prefix or tag has removed count until they are purged in the background.
  public var entryCount: Int = 0
  /// The bytes of the live committed records: keys, values, and headers.
  public var liveBytes: Int = 0
  /// The bytes that the tier occupies in its storage, such as the size of its file on disk.
  public var occupiedBytes: Int = 0
  /// The limit of ``occupiedBytes``.
  public var limitBytes: Int = 0
  /// The number of writes that are staged and not yet committed.
  public var stagedCount: Int = 0
  /// The number of reads that found a record.
  public var hits: Int = 0
  /// The number of reads that found no record.
  public var misses: Int = 0
  /// The number of committed records.
  public var stores: Int = 0
  /// The number of committed removals.
  public var removals: Int = 0
  /// The number of commits. One commit contains a group of writes.
  public var commits: Int = 0
  /// The number of records that were evicted to make room.
  public var evictions: Int = 0
  /// The number of refused writes.
  public var refused: Int = 0
  /// The number of writes that failed after they were staged.
  public var failed: Int = 0
  /// The number of records that were found damaged.
  public var damaged: Int = 0

  /// Creates statistics with zero in every counter.
  ///
  /// - Parameter mode: The operating state.
  public init(mode: Mode = .active) {
    self.mode = mode
  }
}
