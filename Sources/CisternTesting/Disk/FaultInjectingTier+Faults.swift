public import Cistern

/// What a test tells the tier to do, and what it asks about it.
extension FaultInjectingTier {
  /// Lets the next `count` commits fail with this error.
  public func failCommits(
    _ count: Int = 1,
    with error: CisternError = CisternError(
      .noSpace, "no space left on the device", location: "fault injected by a test")
  ) {
    state.withLock { $0.commitFailures += Array(repeating: error, count: count) }
  }

  /// Refuses every record for which the predicate holds; nil to refuse none. It runs inside the cache's critical section,
  /// so it must not use the cache.
  public func refuseRecords(where predicate: (@Sendable (StagedWrite) -> Bool)?) {
    state.withLock { $0.refusal = predicate }
  }

  /// Refuses records with more bytes than this; nil for no limit.
  public func setSizeLimit(_ bytes: Int?) {
    state.withLock { $0.sizeLimit = bytes }
  }

  /// Evicts, at each commit, the oldest records of a partition beyond this count; nil for no limit.
  public func setRecordLimit(_ count: Int?) {
    state.withLock { $0.recordLimit = count }
  }

  /// Refuses to begin batches of more writes than this (`canHold(batchBytes:count:)`); nil for no limit.
  public func setBatchLimit(_ count: Int?) {
    state.withLock { $0.batchLimit = count }
  }

  /// Calls `hook` in every read, after the record was loaded (or found absent) and before the reader sees it: where a
  /// real thread might be paused. What the hook does there, on the same thread, happens in the middle of the read. Nil to
  /// call none.
  public func setAfterLoad(_ hook: (@Sendable (_ key: [UInt8]) -> Void)?) {
    state.withLock { $0.afterLoad = hook }
  }

  /// As a failing disk does, degrades, and comes back with `.active`.
  public func setMode(_ mode: SecondTierStatistics.Mode) {
    state.withLock { $0.contents.mode = mode }
  }

  /// Evicts a committed record, unless a newer write of its key is staged; whether it did.
  @discardableResult
  public func evict(_ key: some CacheKey, from partition: String) -> Bool {
    let key = key.bytes
    let isEvicted = state.withLock { state in
      guard let metadata = state.contents.partitions[partition]?.evict(key) else { return false }
      state.depart([.init(partition: partition, list: [(Departure(key: key, cause: .evicted), metadata)])])
      return true
    }
    tellOfDepartures()
    return isEvicted
  }

  /// Damages a committed record so that its checksum shows it: the next read misses, and the key departs.
  public func damage(_ key: some CacheKey, in partition: String) {
    let key = key.bytes
    state.withLock { $0.contents.partitions[partition]?.committed[key]?.isDamaged = true }
  }

  /// Changes a committed record's bytes unnoticed by any checksum: what the cache's codec gets to see.
  public func corrupt(_ key: some CacheKey, in partition: String, _ change: @Sendable (inout [UInt8]) -> Void) {
    let key = key.bytes
    guard var bytes = committedBytes(forKey: key, in: partition) else { return }
    change(&bytes)
    state.withLock { [bytes] in $0.contents.partitions[partition]?.committed[key]?.bytes = bytes }
  }

  /// What is committed under a key; nil where nothing is.
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
