import CisternCore
import LMDB
import Locking

extension Writer {
  /// Performs one small part of the maintenance: removes damaged records, and purges dead generations and
  /// invalidated records.
  ///
  /// The writer thread calls it when it has nothing to commit, and after some commits in sequence.
  func maintain() {
    guard engine.mode == .active else { return }
    do throws(LMDBError) {
      try followFiles()
      guard engine.file != nil else { return }
      learnGenerations()
      try examineDefects()
      try purgeSome()
      try purgeSomeInvalidated()
    } catch {
      do throws(LMDBError) {
        try makeRoomForMaintenance(after: error)
      } catch {
        recover(from: error)
      }
    }
    noteChanges()
    noteMaintenance()
  }

  /// Requests maintenance if a dead generation must be purged, an invalidation walk is due, or a reported defect is
  /// left.
  func noteMaintenance() {
    let isWalkDue = engine.partitions.contains { !$0.invalidations.isEmpty && !$0.invalidations.purgeable.isEmpty }
    // Another read can hold all slots of readers. The next attempt follows a pause.
    let isUnread = engine.partitions.contains { !$0.isLearned }
    if isUnread { pauseMaintenance() }
    if !deadGenerations.isEmpty || isWalkDue || isUnread || engine.hasReportedDefects {
      engine.monitor.withLock { $0.needsMaintenance = true }
    }
  }

  /// Reads the generations of partitions that were opened without a file, or without a free reader slot.
  ///
  /// The writer thread does so, because it replaces files. A reader could learn the generation of a former file.
  func learnGenerations() {
    for partition in engine.partitions where !partition.isLearned { engine.learnGeneration(of: partition) }
  }

  /// Lets time pass before the next maintenance, because the file has no room for it.
  ///
  /// A reader that keeps the pages can end at any time. A commit ends the pause, because it can make room.
  func pauseMaintenance() { pauseMaintenance(for: initialRetryDelay) }

  private func pauseMaintenance(for duration: UInt64) {
    let (end, overflow) = monotonicNanoseconds().addingReportingOverflow(duration)
    engine.monitor.withLock { $0.maintenancePausedUntil = overflow ? .max : end }
  }

  /// The number of records that one transaction of maintenance removes at most.
  var purgedPerTransaction: Int { max(1, deviceRoom.limits.pagesPerTransaction >> (2 + maintenanceAttempts.count)) }

  /// Lets LMDB reuse pages after the map was found full, so that a smaller transaction can follow.
  ///
  /// An aborted transaction changes nothing. Without this, each later attempt would find the same map full. If a reader
  /// keeps the pages, a short pause follows instead.
  ///
  /// - Throws: `error` if it is about something else, if the file has no room for an empty change, or after many
  ///   attempts.
  private func makeRoomForMaintenance(after error: LMDBError) throws(LMDBError) {
    guard isAboutRoom(error), let file = engine.file else { throw error }
    // Smaller limits bound the next transactions, too.
    if engine.diagnosis(of: error).code == .noSpace { _ = try noteFullDevice(file) }
    if try hasBlockingReader(of: file) {
      return pauseMaintenance(for: maintenanceAttempts.pauseForReader(atMost: initialRetryDelay))
    }
    guard maintenanceAttempts.noteAttempt(), try commitTwice(in: file) else { throw error }
  }

  /// Continues the purge of the dead generations in one transaction.
  func purgeSome() throws(LMDBError) {
    guard !deadGenerations.isEmpty, let file = engine.file else { return }
    let generations = deadGenerations
    let count = purgedPerTransaction
    let ended = try commitMaintenance(in: file) { (step, transaction) throws(LMDBError) in
      try step.purge(generations, upTo: count, in: &transaction)
    }
    guard ended > 0 else { return }
    // The commit may have read the list anew.
    let purged = Set(generations.suffix(ended))
    deadGenerations.removeAll { purged.contains($0) }
    // The file can have more of them than the writer thread has read.
    if deadGenerations.isEmpty { loadDeadGenerations() }
  }

  private func examineDefects() throws(LMDBError) {
    let reported = engine.takeReportedDefects()
    let records = reported.filter(\.isRecord)
    let count = purgedPerTransaction
    // The others follow in the next transactions. Many removals at once could find the map full again and again.
    engine.keepDamagedRecords(among: Array(records.dropFirst(count)))
    let defects = reported.filter { !$0.isRecord } + records.prefix(count)
    do throws(LMDBError) {
      try examine(defects)
    } catch {
      engine.keepDamagedRecords(among: defects)
      throw error
    }
  }

  private func examine(_ defects: [ReportedDefect]) throws(LMDBError) {
    var records: [(partition: Partition, key: [UInt8])] = []
    for defect in defects {
      switch defect {
      // An error of a file that was replaced since does not concern the current file.
      case .file(let error, let environment): if environment === engine.file?.environment { throw error }
      case .record(let partition, let key): records.append((partition, key))
      }
    }
    guard !records.isEmpty, let file = engine.file else { return }
    var removed: [(partition: Partition, key: [UInt8])] = []
    var evictedKeys: [EvictedKey] = []
    do throws(LMDBError) {
      try commitMaintenance(in: file) { (step, transaction) throws(LMDBError) in
        for (partition, key) in records {
          // Before the removal: the record belongs to this clear count or an earlier one.
          let (clearCount, generation) = partition.clearCountAndGeneration
          guard let damaged = try step.removeDamaged(key, of: partition, in: &transaction) else { continue }
          removed.append((partition, key))
          // Without a generation, a clear has hidden the record, and is not committed yet.
          guard generation != .zero, case .visible = damaged else { continue }
          // The tags of a damaged record are unknown, so only invalidations by prefix can cover it later.
          let record = LostRecord(
            clearCount: clearCount, invalidationVersion: partition.invalidations.invalidationVersion, tags: [])
          evictedKeys.append(EvictedKey(partition: partition, key: key, record: record))
        }
        for key in evictedKeys { key.markLost() }
      }
    } catch {
      for key in evictedKeys { key.unmarkLost() }
      throw error
    }
    for (partition, key) in removed {
      engine.report(.damagedRecord, "a record of the cache \(partition.name) had a wrong checksum, and was removed")
      partition.report([RecordLoss(key: key, cause: .damaged)])
    }
  }

  /// Runs `body` as ``commitSeparately(in:_:)`` does. Later transactions of maintenance may be larger again.
  func commitMaintenance<Result>(
    in file: DiskFile,
    _ body: (inout WriteStep, inout IndexTransaction) throws(LMDBError) -> Result
  ) throws(LMDBError) -> Result {
    let result = try commitSeparately(in: file, body)
    maintenanceAttempts.noteSuccess()
    return result
  }

  /// Runs `body` in a write transaction apart from a commit group, and publishes the resulting counts after the commit.
  func commitSeparately<Result>(
    in file: DiskFile,
    _ body: (inout WriteStep, inout IndexTransaction) throws(LMDBError) -> Result
  ) throws(LMDBError) -> Result {
    let (result, outcome, number) = try withStep(in: file) {
      (step, transaction) throws(LMDBError) -> (Result, StepOutcome, TransactionNumber) in
      let result = try body(&step, &transaction)
      try step.finish(in: &transaction)
      try engine.injectFault()
      return (result, step.outcome, transaction.transaction.transactionNumber)
    }
    file.knownTransaction.store(outcome.hasChanges ? number : number.previous(), ordering: .releasing)
    if outcome.hasDeadGenerations { loadDeadGenerations() }
    for partition in engine.partitions {
      if let counts = outcome.counts[partition.generation] ?? nil { partition.counters.set(counts) }
    }
    engine.noteSizes(of: file)
    return result
  }

  /// Reads from the file which generations are dead and must be purged. Reads at most 64 of them at once: the purge of
  /// the last one reads the next.
  func loadDeadGenerations() {
    guard let file = engine.file, !engine.options.isReadOnly else { return }
    do {
      deadGenerations = try file.deadGenerations(limit: 64)
    } catch {
      engine.noteReadFailure(error, of: file.environment)
    }
  }
}
