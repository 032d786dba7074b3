import CisternCore
import LMDB

/// The progress of a commit group, and the results to report when the group ends.
struct CommitState {
  private(set) var group: CommitGroup
  /// The items before this position are committed.
  private(set) var position = 0
  /// Whether the clears and the invalidations are committed.
  private(set) var arePreliminariesCommitted: Bool
  /// The number of records that got a second chance in this group.
  private(set) var secondChances = 0
  /// The number of bytes to evict before the next unit of joined writes is put. Nil unless an earlier step began that
  /// eviction.
  private(set) var debt: Int?
  /// The tickets of the writes that were given up.
  private(set) var unwritten: Set<CommitTicket> = []
  /// The error of the first record that was given up, or nil. Removals do not count, because they are staged again.
  private(set) var firstLossError: CisternError?
  private(set) var failures: [CommitProgress.Failure] = []
  /// The errors of writes that can never be committed: one for each single write, and one for each batch.
  private(set) var refusals: [CisternError] = []
  /// The error of every write of the group. Nil unless the whole group failed.
  private(set) var failureOfAll: CisternError?
  /// The error that ended the group early.
  private(set) var error: LMDBError?
  /// The lost records of each partition, to be reported when the group ends.
  private(set) var losses: [(partition: Partition, losses: [RecordLoss])] = []
  /// The tickets of the first items, which are committed. They are collected only when they are needed.
  private var committed: Set<CommitTicket> = []
  private var committedCount = 0
  /// The attempts to make room for the next items.
  var attempts = RoomAttempts()
  /// Whether the file was closed and reopened, because LMDB refused further transactions.
  var hasReopened = false
  /// Whether the file was set aside. If the empty file that replaces it fails too, the file is not the cause.
  var hasReplaced = false

  init(group: CommitGroup) {
    self.group = group
    arePreliminariesCommitted = !group.hasPreliminaries
  }

  var isDone: Bool { position == group.count && arePreliminariesCommitted }

  mutating func advance(to position: Int, secondChances: Int, debt: Int?) {
    self.position = position
    self.secondChances += secondChances
    self.debt = debt
    arePreliminariesCommitted = true
    attempts = RoomAttempts()
  }

  /// Starts again from the first item, because another file is open. That file gets the invalidations of the former
  /// one.
  mutating func restart(repeatingInvalidationsOf partitions: [Partition]) {
    group.takeRepeatedInvalidations(of: partitions)
    position = 0
    debt = nil
    attempts = RoomAttempts()
    committed = []
    committedCount = 0
    arePreliminariesCommitted = !group.hasPreliminaries
  }

  /// Takes the clear of a partition that the group has opened.
  mutating func takeCommittedClear(of partition: Partition) { group.takeCommittedClear(of: partition) }

  /// Gives up the next item or batch, because it can never be committed, or does not fit even after eviction.
  mutating func skip(_ error: CisternError, isReported: Bool = true) {
    let unit = group.unit(from: position)
    giveUp(unit, error)
    // A full device has its own report.
    if isReported, error.code != .noSpace { refusals.append(error) }
    position = unit.upperBound
    debt = nil
    attempts.noteSkip()
  }

  /// Gives up the next batch if it has become too large for one transaction. On a full device, also gives up a record
  /// or batch that would displace too many others. Returns whether it did.
  mutating func skipIfUnfit(limits: DiskLimits, isDeviceFull: Bool, location: String) -> Bool {
    guard position < group.count, group.isUnfit(at: position, limits: limits, isDeviceFull: isDeviceFull) else {
      return false
    }
    let limit = ByteCount.bytes(limits.pagesPerJoinedBatch * DiskLimits.pageSize)
    skip(
      isDeviceFull
        ? CisternError(
          .noSpace, "the device has no room for a write of this size", location: location,
          remedy: "Free space on the device, or store smaller values")
        : CisternError(
          .tooLarge,
          "batches that share keys need one commit, but together exceed half of the disk limit, \(limit); none of them is on disk",
          location: location))
    return true
  }

  /// Gives up the next item or batch if the file names another codec for its records. Returns whether it did.
  ///
  /// Otherwise, the file would have records of two codecs under one schema version. Each conflict is reported once.
  mutating func skipIfConflicting(in directory: String) -> Bool {
    guard let (partition, conflict) = group.formatConflict(at: position) else { return false }
    let isReported = partition.formats.takeConflictReport(ofVersion: conflict.format.schemaVersion)
    skip(conflict.error(of: partition, in: directory), isReported: isReported)
    return true
  }

  /// Gives up everything that is not committed.
  mutating func giveUp(_ error: LMDBError, as failure: CisternError) {
    self.error = error
    var next = position
    while next < group.count {
      let unit = group.unit(from: next)
      giveUp(unit, failure)
      next = unit.upperBound
    }
    if !arePreliminariesCommitted || position == 0 { failureOfAll = failure }
  }

  /// Gives up an item or a batch.
  private mutating func giveUp(_ unit: Range<Int>, _ error: CisternError) {
    for index in unit { giveUp(group[index], error) }
    for ticket in group.batchTickets(at: unit.lowerBound) {
      failures.append(CommitProgress.Failure(tickets: ticket...ticket, error: error))
    }
  }

  private mutating func giveUp(_ item: CommitGroup.Item, _ error: CisternError) {
    unwritten.insert(item.entry.ticket)
    // Nothing is lost: the record stays as it is on disk.
    if item.entry.isRewrite { return }
    for tickets in item.entry.tickets { failures.append(CommitProgress.Failure(tickets: tickets, error: error)) }
    item.partition.counters.failed.count()
    if case .record(let key, let metadata, _) = item.entry.write {
      firstLossError = firstLossError ?? error
      let loss = RecordLoss(key: key, cause: .notWritten, schemaVersion: metadata.schemaVersion)
      losses.append((item.partition, [loss]))
    }
  }

  /// Counts the results of a committed step, and records the lost keys.
  mutating func note(_ outcome: StepOutcome, evictedKeys: [EvictedKey], among partitions: [Partition]) {
    for partition in partitions {
      let identity = ObjectIdentifier(partition)
      if let count = outcome.storesByPartition[identity] { partition.counters.stores.count(count) }
      if let count = outcome.removalsByPartition[identity] { partition.counters.removals.count(count) }
    }
    note(outcome.evicted, evictedKeys: evictedKeys, among: partitions)
  }

  /// Counts committed evictions, and records the keys whose loss must be reported.
  mutating func note(_ evicted: [EvictedRecord], evictedKeys: [EvictedKey], among partitions: [Partition]) {
    for partition in partitions {
      let generation = partition.generation
      partition.counters.evictions.count(evicted.count { $0.generation == generation })
      let left = evictedKeys.lazy.filter { $0.partition === partition }.map {
        RecordLoss(key: $0.key, cause: .evicted, schemaVersion: $0.record.schemaVersion)
      }
      if !left.isEmpty { losses.append((partition, Array(left))) }
    }
  }

  /// Returns the evicted keys for which no newer write is staged or was given up.
  ///
  /// - Parameters:
  ///   - evicted: The records that the transaction evicted.
  ///   - partitions: The partitions of the engine.
  ///   - invalidationVersions: The newest invalidation version of each partition, read before the first eviction.
  /// - Returns: The keys.
  mutating func evictedKeys(
    _ evicted: [EvictedRecord], among partitions: [Partition],
    since invalidationVersions: [ObjectIdentifier: InvalidationVersion]
  ) -> [EvictedKey] {
    guard !evicted.isEmpty else { return [] }
    while committedCount < position {
      committed.insert(group[committedCount].entry.ticket)
      committedCount += 1
    }
    var byGeneration: [Generation: (partition: Partition, clearCount: ClearCount)] = [:]
    for partition in partitions {
      let (clearCount, generation) = partition.clearCountAndGeneration
      if generation != .zero { byGeneration[generation] = (partition, clearCount) }
    }
    // Apart from `committed`, because the transaction can fail.
    var put: Set<CommitTicket> = []
    var putCount = position
    return evicted.compactMap { record in
      while putCount < record.position {
        put.insert(group[putCount].entry.ticket)
        putCount += 1
      }
      guard let (partition, clearCount) = byGeneration[record.generation] else { return nil }
      // A newer write of the key is staged, or this step puts it after the eviction. The key is not lost. If that write
      // was given up, its own removal or loss follows.
      if let entry = partition.stagedEntryExceptRewrite(forKey: record.key.rawSpan) {
        let isCommitted = committed.contains(entry.ticket) || put.contains(entry.ticket)
        if !isCommitted || unwritten.contains(entry.ticket) { return nil }
      }
      let invalidationVersion = invalidationVersions[ObjectIdentifier(partition)] ?? .zero
      return EvictedKey(
        partition: partition, key: record.key,
        record: LostRecord(
          clearCount: clearCount, invalidationVersion: invalidationVersion, tags: record.tags,
          schemaVersion: record.schemaVersion))
    }
  }
}
