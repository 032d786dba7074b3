import Cistern
import CisternTesting

/// The partition of a cache in an ``OwnTier``, with the required methods alone.
struct OwnPartition: SecondTierPartition {
  let tier: OwnTier
  let name: String

  func withRecord<Result>(
    forKey key: RawSpan, _ body: (RecordMetadata, RawSpan) throws -> Result
  ) rethrows -> Result? {
    let key = key.copiedBytes()
    let (record, hook) = tier.state.withLock { ($0.partitions[name]!.current[key], $0.afterLoad) }
    hook?(key)
    return try record.map { try body($0.metadata, $0.bytes.rawSpan) }
  }

  /// Without the hook, because the cache asks in its critical sections.
  func contains(_ key: RawSpan) -> Bool {
    let key = key.copiedBytes()
    return tier.state.withLock { $0.partitions[name]!.current[key] != nil }
  }

  func stage(_ write: StagedWrite) -> StagingResult {
    endLoss(of: write.key)
    return .staged(
      tier.stage(in: name) { records, ticket in
        switch write {
        case .record(let key, let metadata, let bytes):
          records[key] = OwnTier.Record(metadata: metadata, bytes: bytes, ticket: ticket)
        case .removal(let key): records[key] = nil
        }
      })
  }

  func stageRemovalOfAll() -> CommitTicket {
    endLosses { _, _ in true }
    return tier.stage(in: name) { records, _ in records = [:] }
  }

  func waitForCommit(_ ticket: CommitTicket) async throws(CisternError) { await tier.waitForCommit() }

  func forEachRecord(_ body: (_ key: RawSpan, RecordMetadata, _ size: Int) throws -> Bool) rethrows {
    for (key, record) in tier.state.withLock({ $0.partitions[name]!.current }) {
      guard try body(key.rawSpan, record.metadata, record.bytes.count) else { return }
    }
  }

  var statistics: SecondTierStatistics { tier.statistics }

  fileprivate func endLoss(of key: [UInt8]) {
    tier.state.withLock { $0.partitions[name]!.lost[key] = nil }
  }

  fileprivate func endLosses(where isEnded: ([UInt8], RecordMetadata) -> Bool) {
    tier.state.withLock { $0.partitions[name]!.lost = $0.partitions[name]!.lost.filter { !isEnded($0, $1) } }
  }
}

/// An ``OwnPartition`` with the optional methods of an exact tier that loses records at any time.
struct ExactPartition: SecondTierPartition {
  let base: OwnPartition

  func withRecord<Result>(
    forKey key: RawSpan, _ body: (RecordMetadata, RawSpan) throws -> Result
  ) rethrows -> Result? {
    try base.withRecord(forKey: key, body)
  }

  func contains(_ key: RawSpan) -> Bool {
    let bytes = key.copiedBytes()
    return base.contains(key) || base.tier.state.withLock { $0.partitions[base.name]!.lost[bytes] != nil }
  }

  func acknowledgeLoss(of key: RawSpan) -> Bool {
    let key = key.copiedBytes()
    return base.tier.state.withLock { $0.partitions[base.name]!.lost.removeValue(forKey: key) != nil }
  }

  func schemaVersion(ofLost key: RawSpan) -> UInt32? {
    let key = key.copiedBytes()
    return base.tier.state.withLock { $0.partitions[base.name]!.lost[key]?.schemaVersion }
  }

  func stage(_ write: StagedWrite) -> StagingResult { base.stage(write) }

  func stageRemovalOfAll() -> CommitTicket { base.stageRemovalOfAll() }

  var invalidatesExactly: Bool { true }

  func stageRemoval(of invalidation: Invalidation) -> CommitTicket {
    base.endLosses { invalidation.concerns(key: $0, tags: $1.tags) }
    return base.tier.stage(in: base.name) { records, _ in
      records = records.filter { !invalidation.concerns(key: $0.key, tags: $0.value.metadata.tags) }
    }
  }

  func waitForCommit(_ ticket: CommitTicket) async throws(CisternError) { try await base.waitForCommit(ticket) }

  func forEachRecord(_ body: (_ key: RawSpan, RecordMetadata, _ size: Int) throws -> Bool) rethrows {
    try base.forEachRecord(body)
  }

  var statistics: SecondTierStatistics { base.statistics }
}
