public import CisternCore

/// Methods that inject faults, and methods that inspect the committed records.
extension FaultInjectingTier {
  /// Makes the next commits fail.
  ///
  /// Each failing commit loses its staged writes. Commits that earlier calls made fail come first.
  ///
  /// - Parameters:
  ///   - count: The number of commits that fail.
  ///   - error: The error that waiters for these commits receive.
  public func failCommits(
    _ count: Int = 1,
    with error: CisternError = CisternError(
      .noSpace, "no space left on the device", location: "fault injected by a test")
  ) {
    state.withLock { $0.commitFailures += Array(repeating: error, count: count) }
  }

  /// Refuses the records that satisfy a predicate.
  ///
  /// - Parameter predicate: The closure that returns whether the tier refuses a write, or nil to refuse no write.
  ///   It runs inside the cache's critical section, so it must not use the cache.
  public func refuseRecords(where predicate: (@Sendable (StagedWrite) -> Bool)?) {
    state.withLock { $0.refusal = predicate }
  }

  /// Refuses records that are larger than a limit.
  ///
  /// - Parameter bytes: The maximum size of a value in bytes, or nil for no limit.
  public func setSizeLimit(_ bytes: Int?) {
    state.withLock { $0.sizeLimit = bytes }
  }

  /// Limits the number of records in each partition. Each commit evicts the oldest records above the limit.
  ///
  /// - Parameter count: The maximum number of records in a partition, or nil for no limit.
  public func setRecordLimit(_ count: Int?) {
    state.withLock { $0.recordLimit = count }
  }

  /// Limits the number of writes in a batch. The cache asks for the limit (`canHold(batchBytes:count:)`) before a
  /// batch begins.
  ///
  /// - Parameter count: The maximum number of writes in a batch, or nil for no limit.
  public func setBatchLimit(_ count: Int?) {
    state.withLock { $0.batchLimit = count }
  }

  /// Installs a hook that every read calls before it looks up the record.
  ///
  /// The hook simulates a thread that is paused before a read, for example after it has found nothing in memory. It
  /// runs on the reader's thread, outside the tier's lock.
  ///
  /// - Parameter hook: The closure to call with the bytes of the key, or nil to remove the hook.
  public func setBeforeLoad(_ hook: (@Sendable (_ key: [UInt8]) -> Void)?) {
    state.withLock { $0.beforeLoad = hook }
  }

  /// Installs a hook that every read calls after it has looked up the record, and before the reader receives the
  /// result.
  ///
  /// The hook simulates a thread that is paused in the middle of a read. It runs on the reader's thread, outside
  /// the tier's lock. Everything that it does happens during the read.
  ///
  /// - Parameter hook: The closure to call with the bytes of the key, or nil to remove the hook.
  public func setAfterLoad(_ hook: (@Sendable (_ key: [UInt8]) -> Void)?) {
    state.withLock { $0.afterLoad = hook }
  }

  /// Installs a hook that the next list of all records calls before it reads them, outside the tier's lock.
  ///
  /// - Parameter hook: The closure to call once.
  package func setBeforeListing(_ hook: @escaping @Sendable () -> Void) {
    state.withLock { $0.beforeListing = hook }
  }

  /// Sets the mode of the tier.
  ///
  /// A test uses the mode `.degraded` to simulate a failing disk, and `.active` to simulate its recovery. In the mode
  /// `.readOnly`, the committed records never change: the tier refuses each write, and hides the older record of its
  /// key from reads.
  ///
  /// - Parameter mode: The new mode.
  public func setMode(_ mode: SecondTierStatistics.Mode) {
    state.withLock { $0.contents.mode = mode }
  }

  /// Evicts a committed record, and reports the record loss.
  ///
  /// The tier does not evict the record if a newer write of its key, or a removal of all records, is staged.
  ///
  /// - Parameters:
  ///   - key: The key of the record.
  ///   - partition: The name of the partition.
  /// - Returns: Whether a record was evicted.
  @discardableResult
  public func evict(_ key: some CacheKey, from partition: String) -> Bool {
    let key = key.bytes
    let isEvicted = state.withLock { state in
      guard let metadata = state.contents.partitions[partition]?.evict(key) else { return false }
      state.lose([.init(partition: partition, list: [RecordLoss.record(key, metadata, .evicted)])])
      return true
    }
    startLossReport()
    return isEvicted
  }

  /// Requires that the cache removes all records of a partition, as if the tier could keep no more single removals.
  ///
  /// The cache does so after its next write.
  ///
  /// - Parameter partition: The name of the partition.
  public func requireRemovalOfAll(in partition: String) {
    state.withLock { $0.contents.partitions[partition]?.mustRemoveAll = true }
  }

  /// Loses all committed records of a partition, as if the file of the tier was replaced. Staged writes stay.
  ///
  /// Reports the loss on the calling thread, before a later commit. The caller must not commit at the same time.
  ///
  /// - Parameter partition: The name of the partition.
  public func loseFile(of partition: String) {
    let lossHandler = state.withLock { state in
      state.contents.partitions[partition]?.committed = [:]
      state.contents.partitions[partition]?.hasLostFile = true
      return state.contents.partitions[partition]?.lossHandler
    }
    lossHandler?([])
  }

  /// Changes the committed record of a key, as another process does that shares the storage. This process is not
  /// notified.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - partition: The name of the partition.
  ///   - record: The new record; nil to remove the record.
  package func changeAsOtherProcess(_ key: some CacheKey, in partition: String, to record: StoredRecord?) {
    let key = key.bytes
    state.withLock { state in
      guard let newest = state.contents.partitions[partition]?.invalidations.newest else { return }
      var changed = record.map { TierContents.Record(metadata: $0.metadata, bytes: $0.bytes) }
      changed?.metadata.localVersion = newest
      state.contents.partitions[partition]!.committed[key] = changed
    }
  }

  /// Damages a committed record in a way that its checksum detects. The next read is a miss, and the tier reports
  /// the record loss.
  ///
  /// - Parameters:
  ///   - key: The key of the record.
  ///   - partition: The name of the partition.
  public func damage(_ key: some CacheKey, in partition: String) {
    let key = key.bytes
    state.withLock { $0.contents.partitions[partition]?.committed[key]?.isDamaged = true }
  }

  /// Changes the bytes of a committed record in a way that no checksum detects. The cache's codec receives the
  /// changed bytes.
  ///
  /// - Parameters:
  ///   - key: The key of the record.
  ///   - partition: The name of the partition.
  ///   - change: The closure that changes the bytes. The tier does not call it if the key has no committed record.
  public func corrupt(_ key: some CacheKey, in partition: String, _ change: @Sendable (inout [UInt8]) -> Void) {
    let key = key.bytes
    guard var bytes = committedBytes(forKey: key, in: partition) else { return }
    change(&bytes)
    state.withLock { [bytes] in $0.contents.partitions[partition]?.committed[key]?.bytes = bytes }
  }

  /// Returns the committed bytes of a key. Staged writes do not affect the result.
  ///
  /// - Parameters:
  ///   - key: The key of the record.
  ///   - partition: The name of the partition.
  /// - Returns: The bytes of the value, or nil if the key has no committed record.
  public func committedBytes(forKey key: some CacheKey, in partition: String) -> [UInt8]? {
    committedBytes(forKey: key.bytes, in: partition)
  }

  private func committedBytes(forKey key: [UInt8], in partition: String) -> [UInt8]? {
    state.withLock { $0.contents.partitions[partition]?.committed[key]?.bytes }
  }
}

extension CacheKey {
  fileprivate var bytes: [UInt8] { withKeyBytes { $0.copiedBytes() } }
}
