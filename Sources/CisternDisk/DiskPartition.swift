import CisternCore

/// A cache's partition of a disk tier, for one owner of the directory.
///
/// After the owner closes, reads miss and writes are refused.
package final class DiskPartition: RecordReaderOwner {
  let engine: DiskEngine
  let partition: Partition
  private let owner: DiskOwner
  package let recordReader: any RecordReader

  init(engine: DiskEngine, partition: Partition, owner: DiskOwner) {
    self.engine = engine
    self.partition = partition
    self.owner = owner
    recordReader = DiskReader(engine: engine, partition: partition, owner: owner)
  }

  @discardableResult
  package func register(_ format: ValueFormat) throws(CisternError) -> FormatRegistration? {
    try engine.register(format, of: partition)
  }

  package func unregister(_ format: ValueFormat) { partition.formats.unregister(format) }

  package func namesOtherCodec(forVersion schemaVersion: UInt32) -> Bool {
    !owner.isClosed && engine.namesOtherCodec(forVersion: schemaVersion, of: partition)
  }

  package func withRecord<Result>(
    forKey key: RawSpan, _ body: (RecordMetadata, RawSpan) throws -> Result
  ) rethrows -> Result? {
    if owner.isClosed { return nil }
    return try engine.withRecord(forKey: key, in: partition, body)
  }

  package func contains(_ key: RawSpan) -> Bool { presence(of: key) ?? false }

  package func presence(of key: RawSpan) -> Bool? {
    if owner.isClosed { return false }
    if isLost(key) { return true }
    let presence = engine.presence(of: key, in: partition)
    // A record can leave after the first question. Its mark precedes the commit.
    return presence == false && isLost(key) ? true : presence
  }

  package func schemaVersion(of key: RawSpan) -> UInt32? {
    if owner.isClosed { return nil }
    if let lost = partition.lostRecord(ofKey: key) { return lost.schemaVersion }
    var version: UInt32 = 0
    if engine.presence(of: key, in: partition, schemaVersion: &version) == true { return version }
    return partition.lostRecord(ofKey: key)?.schemaVersion
  }

  package var mustRemoveAll: Bool { partition.clearState.mustClear && !owner.isClosed }

  package func requireRemovalOfAll() {
    if !owner.isClosed { engine.requireRemovalOfAll(of: partition) }
  }

  package var hasLostKeys: Bool { !partition.lostKeys.isEmpty }

  package var hasLostFile: Bool { partition.clearState.hasLostFile }

  package func acknowledgeFileLoss() -> Bool { partition.clearState.acknowledgeFileLoss() }

  package var lostKeys: [[UInt8]] { partition.lostKeys.all }

  package func isLost(_ key: RawSpan) -> Bool { partition.isLost(key) }

  package func acknowledgeLoss(of key: RawSpan) -> Bool {
    partition.acknowledgeLoss(of: key)
  }

  package func stage(_ write: StagedWrite) -> StagingResult {
    if owner.isClosed { return .refused }
    return engine.stage(write, in: partition)
  }

  package func stage(_ write: StagedWrite, if condition: RecordCondition) -> ConditionalStagingResult {
    if owner.isClosed { return .refused }
    return engine.stage(write, if: condition, in: partition)
  }

  package var invalidatesExactly: Bool { true }

  package func stageRemoval(of invalidation: Invalidation) -> CommitTicket { stageInvalidation(invalidation).ticket }

  package func stageRemovalOfAll() -> CommitTicket {
    if owner.isClosed { return .zero }
    return engine.stageRemovalOfAll(of: partition)
  }

  package func stageInvalidation(_ invalidation: Invalidation) -> (version: InvalidationVersion, ticket: CommitTicket) {
    if owner.isClosed { return (partition.invalidations.invalidationVersion.next(), .zero) }
    return engine.stageInvalidation(invalidation, of: partition, hasCache: true)
  }

  package var invalidationVersion: InvalidationVersion { partition.invalidations.invalidationVersion }

  package func canHold(batchBytes: Int, count: Int) -> Bool {
    engine.limits.canHold(batchBytes: batchBytes, count: count)
  }

  package func canHold(_ write: StagedWrite) -> Bool { !engine.isTooLarge(write) }

  package func beginBatch() -> BatchToken { engine.beginBatch(for: owner) }

  package func mode(in batch: BatchToken) -> SecondTierStatistics.Mode {
    if batch.includesDisk { return .active }
    // A tier that works again since the batch began takes none of its writes.
    return mode == .active ? .degraded : mode
  }

  package func stage(_ write: StagedWrite, in batch: BatchToken) -> StagingResult {
    // A close must not divide a batch, so only its beginning asks.
    if !batch.includesDisk, owner.isClosed { return .refused }
    return engine.stage(write, in: partition, batch: batch)
  }

  @discardableResult
  package func endBatch(_ batch: BatchToken) -> CommitTicket {
    engine.endBatch(batch)
  }

  package func waitForRoom() {
    if !owner.isClosed { engine.waitForRoom() }
  }

  package func waitForRoom() async {
    if !owner.isClosed { await engine.waitForRoom() }
  }

  package func prepareToCommit() async {
    if !owner.isClosed { await engine.prepareToCommit() }
  }

  package var largestBatch: ByteCount? { .bytes(engine.limits.batchBytes) }

  package var largestWrite: ByteCount? { .bytes(engine.limits.largestRecord) }

  package func waitForCommit(_ ticket: CommitTicket) async throws(CisternError) {
    try await engine.waitForCommit(ticket, includingEarlier: false)
  }

  package var stagedKeys: [[UInt8]] {
    owner.isClosed || engine.isInherited ? [] : partition.staging.recordKeys
  }

  package func position(of key: RawSpan) -> KeyPosition {
    if engine.layout == .dense { return KeyPosition(RecordDigest(of: key)) }
    let diskKey = DiskKey(generation: .first, key: key)
    return diskKey.isDigest
      ? KeyPosition(isDigest: true, bytes: diskKey.directKey) : KeyPosition(bytes: key.copiedBytes())
  }

  package func records(in range: RecordRange) throws(CisternError) -> RecordChunk {
    if owner.isClosed { throw engine.closedError("enumerate the cache \(partition.name)") }
    return try engine.records(of: partition, in: range)
  }

  package func metadata(of key: RawSpan) -> RecordMetadata? {
    owner.isClosed ? nil : engine.metadata(of: key, in: partition)
  }

  package func forEachRecord(_ body: (_ key: RawSpan, RecordMetadata, _ size: Int) throws -> Bool) rethrows {
    _ = try listRecords(body)
  }

  package func listRecords(_ body: (_ key: RawSpan, RecordMetadata, _ size: Int) throws -> Bool) rethrows -> Bool {
    try owner.isClosed || engine.listRecords(of: partition, body)
  }

  package var mode: SecondTierStatistics.Mode {
    owner.isClosed || engine.isInherited ? .closed : engine.mode
  }

  /// Whether invalidations are committed whose records are not purged yet.
  package var isPurging: Bool { !partition.invalidations.purgeable.isEmpty }

  package var statistics: SecondTierStatistics {
    var statistics = engine.statistics(of: [partition])
    if owner.isClosed { statistics.mode = .closed }
    return statistics
  }
}
