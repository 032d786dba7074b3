import Synchronization

/// A partition of a custom tier, with the interface that a cache calls.
///
/// A conditional write is compared with the record right before it is staged, because the tier has no conditions. The
/// writes of a batch are staged one after another. The tier itself knows which losses wait for an acknowledgment.
package final class AdaptedPartition: TransactionalPartition {
  private let base: any SecondTierPartition
  let absences = AbsenceCounts()
  private let removalOfAllIsDue = Atomic<Bool>(false)

  /// The number of the newest invalidation version of all adapted partitions.
  private static let newestOfAll = Atomic<UInt64>(0)
  /// The number of the newest invalidation version of this partition.
  ///
  /// The versions begin with the time of day, so that they also rise over restarts. They rise one by one: an entry in
  /// memory stores the low bits of its version.
  private let newestNumber: Atomic<UInt64>

  package init(_ base: any SecondTierPartition) {
    self.base = base
    let time = UInt64(max(1, SystemClock().wallTime().nanosecondsSince1970))
    let first = max(time, Self.newestOfAll.load(ordering: .sequentiallyConsistent) + 1)
    Self.newestOfAll.max(first, ordering: .sequentiallyConsistent)
    newestNumber = Atomic(first)
  }

  // MARK: The partition's own methods

  package func withRecord<Result>(
    forKey key: RawSpan, _ body: (RecordMetadata, RawSpan) throws -> Result
  ) rethrows -> Result? {
    guard let result = try base.withRecord(forKey: key, body) else {
      absences.note(key)
      return nil
    }
    return result
  }

  package func contains(_ key: RawSpan) -> Bool {
    if base.contains(key) { return true }
    absences.note(key)
    return false
  }

  package func stage(_ write: StagedWrite) -> StagingResult { base.stage(write) }

  package func stageRemovalOfAll() -> CommitTicket {
    removalOfAllIsDue.store(false, ordering: .releasing)
    return base.stageRemovalOfAll()
  }

  package var invalidatesExactly: Bool { base.invalidatesExactly }

  package func stageRemoval(of invalidation: Invalidation) -> CommitTicket {
    invalidatesExactly ? base.stageRemoval(of: invalidation) : stageRemovalOfAll()
  }

  package func waitForCommit(_ ticket: CommitTicket) async throws(CisternError) {
    try await base.waitForCommit(ticket)
  }

  package func forEachRecord(_ body: (_ key: RawSpan, RecordMetadata, _ size: Int) throws -> Bool) rethrows {
    defer { absences.noteAll() }
    try base.forEachRecord(body)
  }

  package var statistics: SecondTierStatistics { base.statistics }

  // MARK: Methods that the adapter adds

  @discardableResult
  package func register(_ format: ValueFormat) -> FormatRegistration? { nil }

  package var mode: SecondTierStatistics.Mode { base.statistics.mode }

  package func presence(of key: RawSpan) -> Bool? {
    if contains(key) { return true }
    // A failing tier can have a record that it finds again later.
    return mode == .degraded ? nil : false
  }

  package func schemaVersion(of key: RawSpan) -> UInt32? {
    base.withRecord(forKey: key) { metadata, _ in metadata.schemaVersion } ?? base.schemaVersion(ofLost: key)
  }

  /// Empty, because the enumeration includes staged records.
  package var stagedKeys: [[UInt8]] { [] }

  package var listsAllRecords: Bool { true }

  package var mustRemoveAll: Bool { removalOfAllIsDue.load(ordering: .acquiring) }

  package func requireRemovalOfAll() { removalOfAllIsDue.store(true, ordering: .releasing) }

  /// True, because the tier does not tell.
  package var hasLostKeys: Bool { true }

  package var listsLostKeys: Bool { false }

  /// Whether a read finds no record. Between a loss and its report, only a tier that marks lost records says that it
  /// has the key.
  package func isLost(_ key: RawSpan) -> Bool {
    presence(of: key) == false || base.schemaVersion(ofLost: key) != nil
  }

  package func acknowledgeLoss(of key: RawSpan) -> Bool {
    absences.note(key)
    return base.acknowledgeLoss(of: key)
  }

  package func stage(_ write: StagedWrite, if condition: RecordCondition) -> ConditionalStagingResult {
    // The tier itself decides about damaged records.
    if case .damaged = condition { return .dropped }
    let key = write.key
    let isAllowed = base.withRecord(forKey: key.rawSpan) { condition.allows(for: $0, $1) }
    switch (isAllowed, write) {
    // A failing tier can have a record that it finds again later, and a removal ends the loss of a record.
    case (true?, _), (nil, .removal):
      return ConditionalStagingResult(base.stage(write))
    // Another writer has replaced or removed the record.
    case (false?, .record), (nil, .record):
      return .dropped
    case (false?, .removal):
      // The caller decides about the end of a lost record. A later report of the tier would be the second one.
      _ = acknowledgeLoss(of: key.rawSpan)
      return .dropped
    }
  }

  package func stageInvalidation(_ invalidation: Invalidation) -> (version: InvalidationVersion, ticket: CommitTicket) {
    let ticket = stageRemoval(of: invalidation)
    let number = newestNumber.add(1, ordering: .sequentiallyConsistent).newValue
    Self.newestOfAll.max(number, ordering: .sequentiallyConsistent)
    return (InvalidationVersion(number: number), ticket)
  }

  package var invalidationVersion: InvalidationVersion {
    InvalidationVersion(number: newestNumber.load(ordering: .sequentiallyConsistent))
  }

  package func canHold(batchBytes: Int, count: Int) -> Bool { true }

  package func excess(ofRefused write: StagedWrite) -> WriteExcess? {
    if case .record = write { .unstated } else { nil }
  }

  package var largestBatch: ByteCount? { nil }

  package var largestWrite: ByteCount? { nil }

  package func beginBatch() -> BatchToken { BatchToken(number: .zero) }

  package func stage(_ write: StagedWrite, in batch: BatchToken) -> StagingResult {
    let result = base.stage(write)
    if case .staged(let ticket) = result { batch.note(ticket) }
    return result
  }

  @discardableResult
  package func endBatch(_ batch: BatchToken) -> CommitTicket { batch.newestTicket }

  package func waitForRoom() {}

  package func waitForRoom() async {}

  package func prepareToCommit() async {}
}

extension SecondTier {
  /// Opens the partition of a cache. A partition of a custom tier is adapted.
  package func transactionalPartition(
    named name: String, lossHandler: @escaping @Sendable ([RecordLoss]) -> Void = { _ in }
  ) throws(CisternError) -> any TransactionalPartition {
    let partition = try partition(named: name, lossHandler: lossHandler)
    return partition as? any TransactionalPartition ?? AdaptedPartition(partition)
  }
}
