import CisternCore

/// The state of a ``FaultInjectingTier``: the committed records, and the log of staged writes.
///
/// The type is pure. It takes no lock, never waits, and calls no handler.
struct TierContents {
  struct Record {
    var metadata: RecordMetadata
    var bytes: [UInt8]
    /// Whether the checksum of the record no longer matches its bytes.
    var isDamaged = false
    /// The ticket of the write that was committed. Eviction removes the records with the lowest tickets first.
    var ticket = CommitTicket.zero
  }

  enum Write {
    case record(key: [UInt8], Record)
    case removal(key: [UInt8])
    case removalOfAll
    case invalidation(Invalidation, invalidationVersion: InvalidationVersion)
  }

  /// A write that is not committed yet.
  struct Staged {
    let ticket: CommitTicket
    let partition: String
    let write: Write
    /// The number of the batch that contains the write, or nil for a single write.
    let batch: BatchNumber?
  }

  struct Partition {
    var lossHandler: @Sendable ([RecordLoss]) -> Void
    var committed: [[UInt8]: Record] = [:]
    /// The newest staged write of each key. The record is nil for a removal.
    var staged: [[UInt8]: (ticket: CommitTicket, record: Record?)] = [:]
    /// The ticket of the newest staged removal of all records, or nil. Until its commit, no read returns a
    /// committed record.
    var cleared: CommitTicket?
    /// The newest invalidations, staged or committed. `committedInvalidations` are those that survive a crash.
    var invalidations = Invalidations()
    var committedInvalidations = Invalidations()
    /// The keys of lost records whose loss the cache has not acknowledged, and that were not written since.
    var lost: [[UInt8]: RecordMetadata] = [:]
    /// Whether the cache must remove all records. See ``TransactionalPartition/mustRemoveAll``.
    var mustRemoveAll = false
    /// Whether the committed records were lost, and the cache has not acknowledged that.
    var hasLostFile = false
    var statistics = SecondTierStatistics()

    /// Returns the record that a read finds: the newest staged one, or else the committed one.
    func record(forKey key: [UInt8]) -> Record? {
      let newest = staged[key].map(\.record) ?? (cleared == nil ? committed[key] : nil)
      return newest.flatMap { invalidations.concerns($0.metadata, key: key) ? nil : $0 }
    }
  }

  /// The record losses of one partition.
  struct Losses {
    var partition: String
    var list: [(loss: RecordLoss, metadata: RecordMetadata)]
  }

  var mode = SecondTierStatistics.Mode.active
  var partitions: [String: Partition] = [:]
  /// The writes that are not committed yet, in the order in which they were staged.
  private var log: [Staged] = []
  private(set) var newestTicket = CommitTicket.zero
  /// The newest ticket whose write was committed or has failed. The same holds for all tickets below it.
  private(set) var settledTicket = CommitTicket.zero
  private var failures: [(tickets: ClosedRange<CommitTicket>, error: CisternError)] = []

  /// The number of the newest batch. `openBatches` has the numbers of the batches that have not ended.
  private var newestBatch = BatchNumber.zero
  private var openBatches: Set<BatchNumber> = []

  var stagedCount: Int { log.count }

  init() {}

  /// Creates the state after a crash: the committed records and invalidations of every partition.
  init(committedOf other: TierContents) {
    for (name, partition) in other.partitions {
      partitions[name] = Partition(lossHandler: { _ in }, committed: partition.committed)
      partitions[name]!.invalidations = partition.committedInvalidations
      partitions[name]!.committedInvalidations = partition.committedInvalidations
    }
  }

  mutating func stage(_ write: Write, in name: String, batch: BatchNumber? = nil) -> CommitTicket {
    newestTicket = newestTicket.next()
    log.append(Staged(ticket: newestTicket, partition: name, write: write, batch: batch))
    switch write {
    case .record(let key, let record):
      partitions[name]!.staged[key] = (newestTicket, record)
      partitions[name]!.lost[key] = nil
    case .removal(let key):
      partitions[name]!.staged[key] = (newestTicket, nil)
      partitions[name]!.lost[key] = nil
    case .removalOfAll:
      partitions[name]!.staged = [:]
      partitions[name]!.lost = [:]
      partitions[name]!.cleared = newestTicket
      partitions[name]!.mustRemoveAll = false
    case .invalidation(let invalidation, let invalidationVersion):
      partitions[name]!.invalidations.add(invalidation, invalidationVersion: invalidationVersion)
      partitions[name]!.lost = partitions[name]!.lost.filter { key, metadata in
        metadata.localVersion >= invalidationVersion || !invalidation.concerns(key: key, tags: metadata.tags)
      }
    }
    return newestTicket
  }

  /// Removes a key whose write the tier cannot accept.
  ///
  /// The staged records of the key become removals in the log. Otherwise, their commit would restore an old value.
  mutating func refuse(_ key: [UInt8], in name: String) {
    partitions[name]!.statistics.refused += 1
    partitions[name]!.committed[key] = nil
    partitions[name]!.staged[key] = nil
    partitions[name]!.lost[key] = nil
    for (index, entry) in log.enumerated() where entry.partition == name {
      guard case .record(key: key, _) = entry.write else { continue }
      log[index] = Staged(ticket: entry.ticket, partition: name, write: .removal(key: key), batch: entry.batch)
    }
  }

  /// Hides the record of a key from reads while the tier is read-only, and keeps it in the committed records.
  ///
  /// Returns nil if the write is dropped: a conditional record leaves the one that was read.
  mutating func conceal(_ write: StagedWrite, in name: String, isConditional: Bool) -> StagingResult? {
    if case .record = write, isConditional { return nil }
    let ticket = stage(.removal(key: write.key), in: name)
    if isConditional { return .staged(ticket) }
    partitions[name]!.statistics.refused += 1
    return .refused
  }

  // MARK: Batches

  mutating func beginBatch() -> BatchNumber {
    newestBatch = newestBatch.next()
    openBatches.insert(newestBatch)
    return newestBatch
  }

  mutating func endBatch(_ batch: BatchNumber) {
    openBatches.remove(batch)
  }

  /// Returns the number of writes that a commit of the oldest `count` writes takes.
  ///
  /// The number is larger if the commit would end inside a batch, and smaller if a batch is still open.
  private func committable(_ count: Int) -> Int {
    var end = min(count, log.count)
    let firstOpen = log.firstIndex { $0.batch.map(openBatches.contains) ?? false } ?? log.count
    var index = 0
    while index < end {
      if let batch = log[index].batch, let last = log.lastIndex(where: { $0.batch == batch }) {
        end = max(end, last + 1)
      }
      index += 1
    }
    guard end > firstOpen else { return end }
    // Excludes open batches, and every batch with writes on both sides of the end.
    end = firstOpen
    while let across = log[..<end].firstIndex(where: { entry in
      entry.batch.map { batch in log[end...].contains { $0.batch == batch } } ?? false
    }) { end = across }
    return end
  }

  // MARK: Committing

  /// Commits the oldest `count` staged writes in whole batches, or loses them if `failure` is not nil. Returns the
  /// record losses.
  mutating func commit(_ count: Int, failure: CisternError?, recordLimit: Int?) -> [Losses] {
    let batch = log.prefix(committable(count))
    guard let first = batch.first, let last = batch.last else { return [] }
    log.removeFirst(batch.count)
    let spared = Set(batch.lazy.filter { $0.batch != nil }.map(\.ticket))
    settledTicket = last.ticket
    if let failure { failures.append((first.ticket...last.ticket, failure)) }

    var losses: [String: [(loss: RecordLoss, metadata: RecordMetadata)]] = [:]
    var names: Set<String> = []
    for entry in batch {
      names.insert(entry.partition)
      let lost = partitions[entry.partition]!.settle(entry.write, ticket: entry.ticket, isWritten: failure == nil)
      if let (key, metadata) = lost {
        losses[entry.partition, default: []].append(RecordLoss.record(key, metadata, .notWritten))
      }
    }
    for name in names {
      if failure == nil { partitions[name]!.statistics.commits += 1 }
      while let recordLimit, partitions[name]!.committed.count > recordLimit {
        guard let (key, metadata) = partitions[name]!.evictOldest(sparing: spared) else { break }
        losses[name, default: []].append(RecordLoss.record(key, metadata, .evicted))
      }
    }
    return losses.sorted { $0.key < $1.key }.map { Losses(partition: $0.key, list: $0.value) }
  }

  /// Returns the outcome of the write with this ticket, or nil while the write is staged.
  func outcome(of ticket: CommitTicket) -> Result<Void, CisternError>? {
    guard ticket <= settledTicket else { return nil }
    return failures.first { $0.tickets.contains(ticket) }.map { .failure($0.error) } ?? .success(())
  }
}

extension TierContents.Partition {
  /// Moves a staged write to the committed records, or drops it. Returns the key of a lost record that has no newer
  /// write.
  fileprivate mutating func settle(
    _ write: TierContents.Write, ticket: CommitTicket, isWritten: Bool
  ) -> (key: [UInt8], RecordMetadata)? {
    switch write {
    case .record(let key, var record):
      let isNewest = staged[key]?.ticket == ticket
      if isNewest { staged[key] = nil }
      record.ticket = ticket
      committed[key] = isWritten ? record : nil
      if isWritten { statistics.stores += 1 } else { statistics.failed += 1 }
      let isGone = invalidations.concerns(record.metadata, key: key)
      return isWritten || !isNewest || isGone ? nil : (key, record.metadata)
    case .removal(let key):
      if staged[key]?.ticket == ticket { staged[key] = nil }
      committed[key] = nil
      if isWritten { statistics.removals += 1 } else { statistics.failed += 1 }
    case .removalOfAll:
      statistics.removals += committed.count
      committed = [:]
      if cleared == ticket { cleared = nil }
    case .invalidation(let invalidation, let invalidationVersion):
      // The invalidation applies even if its write failed, as a removal does.
      if isWritten { committedInvalidations.add(invalidation, invalidationVersion: invalidationVersion) }
      committed = committed.filter { key, record in
        record.metadata.localVersion >= invalidationVersion
          || !invalidation.concerns(key: key, tags: record.metadata.tags)
      }
    }
    return nil
  }

  /// Evicts a committed record, unless a newer write of its key is staged. Returns the metadata of the evicted
  /// record.
  mutating func evict(_ key: [UInt8]) -> RecordMetadata? {
    guard cleared == nil, staged[key] == nil, let record = record(forKey: key) else { return nil }
    committed[key] = nil
    statistics.evictions += 1
    return record.metadata
  }

  fileprivate mutating func evictOldest(sparing tickets: Set<CommitTicket>) -> (key: [UInt8], RecordMetadata)? {
    let candidates = committed.filter {
      staged[$0.key] == nil && !tickets.contains($0.value.ticket)
        && !invalidations.concerns($0.value.metadata, key: $0.key)
    }
    guard let oldest = candidates.min(by: { $0.value.ticket < $1.value.ticket }) else { return nil }
    return evict(oldest.key).map { (oldest.key, $0) }
  }
}

extension RecordLoss {
  /// A record loss, with the metadata of the record.
  static func record(
    _ key: [UInt8], _ metadata: RecordMetadata, _ cause: Cause
  ) -> (loss: RecordLoss, metadata: RecordMetadata) {
    (RecordLoss(key: key, cause: cause, schemaVersion: metadata.schemaVersion), metadata)
  }
}
