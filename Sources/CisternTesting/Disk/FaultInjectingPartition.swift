import CisternCore

/// The partition of one cache in a ``FaultInjectingTier``. The partition is stateless: all state is in the tier.
final class FaultInjectingPartition: TransactionalPartition {
  private let tier: FaultInjectingTier
  private let name: String

  init(tier: FaultInjectingTier, name: String) {
    self.tier = tier
    self.name = name
  }

  func withRecord<Result>(
    forKey key: RawSpan, _ body: (RecordMetadata, RawSpan) throws -> Result
  ) rethrows -> Result? {
    let key = key.copiedBytes()
    let beforeLoad = tier.state.withLock { $0.beforeLoad }
    beforeLoad?(key)
    let (record, afterLoad) = tier.state.withLock { state in
      (state.load(key, from: name), state.afterLoad)
    }
    tier.startLossReport()
    afterLoad?(key)
    guard let record else { return nil }
    return try body(record.metadata, record.bytes.rawSpan)
  }

  func contains(_ key: RawSpan) -> Bool { presence(of: key) ?? false }

  func presence(of key: RawSpan) -> Bool? {
    let key = key.copiedBytes()
    return tier.state.withLock { state in
      switch state.contents.mode {
      // The record cannot be read now, but a later read can find it.
      case .degraded: return nil
      case .closed: return false
      case .active, .readOnly:
        let partition = state.contents.partitions[name]!
        return partition.record(forKey: key) != nil || partition.lost[key] != nil
      }
    }
  }

  func schemaVersion(of key: RawSpan) -> UInt32? {
    let key = key.copiedBytes()
    return tier.state.withLock { state in
      guard state.contents.isReadable else { return nil }
      let partition = state.contents.partitions[name]!
      return (partition.record(forKey: key)?.metadata ?? partition.lost[key])?.schemaVersion
    }
  }

  var mustRemoveAll: Bool { tier.state.withLock { $0.contents.partitions[name]!.mustRemoveAll } }

  func requireRemovalOfAll() { tier.state.withLock { $0.contents.partitions[name]!.mustRemoveAll = true } }

  var hasLostFile: Bool { tier.state.withLock { $0.contents.partitions[name]!.hasLostFile } }

  func acknowledgeFileLoss() -> Bool {
    tier.state.withLock { state in
      defer { state.contents.partitions[name]!.hasLostFile = false }
      return state.contents.partitions[name]!.hasLostFile
    }
  }

  var hasLostKeys: Bool { tier.state.withLock { !$0.contents.partitions[name]!.lost.isEmpty } }

  var lostKeys: [[UInt8]] { tier.state.withLock { Array($0.contents.partitions[name]!.lost.keys) } }

  func isLost(_ key: RawSpan) -> Bool {
    let key = key.copiedBytes()
    return tier.state.withLock { $0.contents.partitions[name]!.lost[key] != nil }
  }

  func acknowledgeLoss(of key: RawSpan) -> Bool {
    let key = key.copiedBytes()
    return tier.state.withLock { $0.contents.partitions[name]!.lost.removeValue(forKey: key) != nil }
  }

  func stage(_ write: StagedWrite) -> StagingResult { stage(write, batch: nil) }

  private func stage(_ write: StagedWrite, batch: BatchNumber?) -> StagingResult {
    // Only a condition drops a write.
    stage(write, batch: batch, if: nil) ?? .refused
  }

  /// Compares the record when the write is staged: this process alone writes the tier.
  func stage(_ write: StagedWrite, if condition: RecordCondition) -> ConditionalStagingResult {
    stage(write, batch: nil, if: condition).map { ConditionalStagingResult($0) } ?? .dropped
  }

  /// Stages a write, or drops it and returns nil if the condition does not hold.
  private func stage(_ write: StagedWrite, batch: BatchNumber?, if condition: RecordCondition?) -> StagingResult? {
    // The predicate is the test's code, so it runs outside the tier's lock.
    let isRefused = tier.state.withLock { $0.refusal }?(write) ?? false
    let (result, woken) = tier.state.withLock { state -> (StagingResult?, FaultInjectingTier.State.Woken) in
      if let condition, !state.contents.fulfills(condition, forKey: write.key, in: name) {
        // The caller reports the end of a lost record that is removed, once.
        if case .removal(let key) = write { state.contents.partitions[name]!.lost[key] = nil }
        return (nil, [])
      }
      switch state.contents.mode {
      case .active: break
      case .readOnly: return (state.contents.conceal(write, in: name, isConditional: condition != nil), [])
      case .degraded, .closed:
        state.contents.refuse(write.key, in: name)
        return (.refused, [])
      }
      let result: StagingResult
      switch write {
      case .record(let key, let metadata, let bytes)
      where isRefused || bytes.count > state.sizeLimit ?? .max
        || state.contents.partitions[name]!.invalidations.concerns(metadata, key: key):
        state.contents.partitions[name]!.statistics.refused += 1
        _ = state.contents.stage(.removal(key: key), in: name, batch: batch)
        result = .refused
      case .record(let key, let metadata, let bytes):
        let record = TierContents.Record(metadata: metadata, bytes: bytes)
        result = .staged(state.contents.stage(.record(key: key, record), in: name, batch: batch))
      case .removal(let key):
        result = .staged(state.contents.stage(.removal(key: key), in: name, batch: batch))
      }
      return (result, tier.commitMode == .immediate ? state.commit(.max) : [])
    }
    for (continuation, outcome) in woken { continuation.resume(returning: outcome) }
    tier.startLossReport()
    return result
  }

  var invalidatesExactly: Bool { true }

  func stageRemoval(of invalidation: Invalidation) -> CommitTicket { stageInvalidation(invalidation).ticket }

  func stageRemovalOfAll() -> CommitTicket {
    stage { $0.contents.stage(.removalOfAll, in: name) }
  }

  func stageInvalidation(_ invalidation: Invalidation) -> (version: InvalidationVersion, ticket: CommitTicket) {
    stageInvalidation(invalidation, batch: nil)
  }

  func stageInvalidation(
    _ invalidation: Invalidation, in batch: BatchToken
  ) -> (version: InvalidationVersion, ticket: CommitTicket) {
    let staged = stageInvalidation(invalidation, batch: batch.number)
    batch.note(staged.ticket)
    return staged
  }

  private func stageInvalidation(
    _ invalidation: Invalidation, batch: BatchNumber?
  ) -> (version: InvalidationVersion, ticket: CommitTicket) {
    stage { state in
      let invalidationVersion = state.contents.partitions[name]!.invalidations.newest.next()
      let write = TierContents.Write.invalidation(invalidation, invalidationVersion: invalidationVersion)
      return (invalidationVersion, state.contents.stage(write, in: name, batch: batch))
    }
  }

  var invalidationVersion: InvalidationVersion {
    tier.state.withLock { $0.contents.partitions[name]!.invalidations.newest }
  }

  func canHold(batchBytes: Int, count: Int) -> Bool {
    tier.state.withLock { count <= min($0.batchLimit ?? .max, $0.recordLimit ?? .max) }
  }

  func excess(ofRefused write: StagedWrite) -> WriteExcess? {
    guard case .record(_, _, let bytes) = write else { return nil }
    return tier.state.withLock { bytes.count > $0.sizeLimit ?? .max } ? .size : excess(of: write)
  }

  func beginBatch() -> BatchToken { BatchToken(number: tier.state.withLock { $0.contents.beginBatch() }) }

  func stage(_ write: StagedWrite, in batch: BatchToken) -> StagingResult {
    let result = stage(write, batch: batch.number)
    if case .staged(let ticket) = result { batch.note(ticket) }
    return result
  }

  @discardableResult
  func endBatch(_ batch: BatchToken) -> CommitTicket {
    stage { state in
      state.contents.endBatch(batch.number)
      // A flush that began while the batch was open waits for the end of the batch.
      state.isFlushing = state.contents.settledTicket < state.flushedTicket
      return batch.newestTicket
    }
  }

  /// Runs `body` in the tier's critical section. Commits afterwards if the tier commits immediately, or if a flush
  /// waits.
  private func stage<Result>(_ body: (inout FaultInjectingTier.State) -> Result) -> Result {
    let (result, woken) = tier.state.withLock { state in
      let result = body(&state)
      defer { state.isFlushing = false }
      return (result, tier.commitMode == .immediate || state.isFlushing ? state.commit(.max) : [])
    }
    for (continuation, outcome) in woken { continuation.resume(returning: outcome) }
    tier.startLossReport()
    return result
  }

  @discardableResult
  func register(_ format: ValueFormat) -> FormatRegistration? { nil }

  var largestBatch: ByteCount? { nil }

  var largestWrite: ByteCount? { nil }

  func waitForRoom() {}

  func waitForRoom() async {
    await tier.room.passUncancelled()
  }

  func prepareToCommit() async { await waitForRoom() }

  func waitForCommit(_ ticket: CommitTicket) async throws(CisternError) {
    try await tier.waitForCommit(ticket)
  }

  var stagedKeys: [[UInt8]] {
    tier.state.withLock { state in Array(state.contents.partitions[name]!.staged.keys) }
  }

  func forEachRecord(
    _ body: (_ key: RawSpan, RecordMetadata, _ size: Int) throws -> Bool
  ) rethrows {
    let beforeListing = tier.state.withLock { state in
      defer { state.beforeListing = nil }
      return state.beforeListing
    }
    beforeListing?()
    let records = tier.state.withLock { state -> [([UInt8], TierContents.Record)] in
      let partition = state.contents.partitions[name]!
      guard state.contents.isReadable, partition.cleared == nil else { return [] }
      return partition.committed.filter { key, _ in
        partition.staged[key] == nil && partition.record(forKey: key) != nil
      }.map { ($0.key, $0.value) }
    }
    for (key, record) in records {
      guard try body(key.rawSpan, record.metadata, record.bytes.count) else { return }
    }
  }

  var mode: SecondTierStatistics.Mode { tier.state.withLock { $0.contents.mode } }

  var statistics: SecondTierStatistics {
    tier.state.withLock { state in
      var statistics = SecondTierStatistics()
      statistics.mode = state.contents.mode
      statistics.add(state.contents.partitions[name]!)
      statistics.stagedCount = state.contents.partitions[name]!.staged.count
      return statistics
    }
  }
}

extension TierContents {
  /// Whether the condition holds for the key's newest record.
  fileprivate func fulfills(_ condition: RecordCondition, forKey key: [UInt8], in name: String) -> Bool {
    guard let record = partitions[name]!.record(forKey: key) else { return false }
    return condition.allows(for: record.metadata, record.bytes.rawSpan)
  }

  var isReadable: Bool {
    switch mode {
    case .active, .readOnly: true
    case .degraded, .closed: false
    }
  }
}

extension FaultInjectingTier.State {
  /// Returns the record that a read finds, and counts the read. A damaged record is removed, and becomes a record
  /// loss.
  fileprivate mutating func load(_ key: [UInt8], from name: String) -> TierContents.Record? {
    guard contents.isReadable, let record = contents.partitions[name]!.record(forKey: key) else {
      contents.partitions[name]!.statistics.misses += 1
      return nil
    }
    guard !record.isDamaged else {
      contents.partitions[name]!.statistics.misses += 1
      contents.partitions[name]!.statistics.damaged += 1
      contents.partitions[name]!.committed[key] = nil
      lose([.init(partition: name, list: [RecordLoss.record(key, record.metadata, .damaged)])])
      return nil
    }
    contents.partitions[name]!.statistics.hits += 1
    return record
  }
}
