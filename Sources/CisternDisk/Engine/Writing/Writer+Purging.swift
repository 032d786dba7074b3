import CisternCore
import LMDB

extension Writer {
  /// Continues the current walk, or begins one.
  ///
  /// The walk does not block readers. It blocks writers of other processes only while it changes the file.
  func purgeSomeInvalidated() throws(LMDBError) {
    guard let file = engine.file else { return }
    if walk == nil { walk = try nextWalk(in: file) }
    guard var walk else { return }
    let found = try walk.next(purgedPerTransaction, in: file)
    if !found.isEmpty {
      try commitMaintenance(in: file) { (step, transaction) throws(LMDBError) in
        try step.records.purge(found, of: walk.generation, concealedBy: walk.set, in: &transaction)
      }
    }
    self.walk = walk
    if walk.isDone { self.walk = try endSome(of: walk, in: file) }
  }

  /// Ends the invalidations of a walk that has examined all records, or fewer of them after attempts without room.
  ///
  /// Returns the walk with the others; nil if none is left.
  /// If the transaction fails, the walk is not repeated.
  private func endSome(of walk: PurgeWalk, in file: DiskFile) throws(LMDBError) -> PurgeWalk? {
    var walk = walk
    // Each transaction visits the rows of all of them, so a file with room for it has one transaction.
    let targets = walk.takeTargets(upTo: max(1, walk.targets.count >> maintenanceAttempts.count))
    let ended = try commitMaintenance(in: file) {
      (step, transaction) throws(LMDBError) -> (row: InvalidationVersionRow, number: TransactionNumber)? in
      // A changed generation means that the partition was cleared and written again. The walk has not seen the new
      // records.
      let generation = try step.generation(of: walk.partition, creating: false, in: &transaction.transaction)
      guard generation == walk.generation else { return nil }
      let kept = engine.limits.endedInvalidations
      let row = try step.end(targets, of: walk.partition, keeping: kept, in: &transaction.transaction)
      return (row, transaction.transaction.transactionNumber)
    }
    guard let ended else { return nil }
    for part in PurgeWalk.parts(of: targets) {
      walk.partition.invalidations.endPurged(part, row: ended.row, transaction: ended.number)
    }
    return walk.targets.isEmpty ? nil : walk
  }

  private func nextWalk(in file: DiskFile) throws(LMDBError) -> PurgeWalk? {
    for partition in engine.partitions {
      let targets = partition.invalidations.purgeable
      guard !targets.isEmpty else { continue }
      // The walk uses the generation in the file, not the one that is read: a staged clear may not survive a crash.
      let generation = try file.environment.withRead { (transaction) throws(LMDBError) in
        try transaction.generation(forKey: MetaTable.partition(partition.name), in: file.meta) ?? .zero
      }
      return PurgeWalk(of: partition, generation, in: file.layout.kind, targets: targets)
    }
    return nil
  }
}

extension DiskEngine {
  /// The newest invalidation version of each partition.
  var invalidationVersions: [ObjectIdentifier: InvalidationVersion] {
    partitions.reduce(into: [:]) { $0[ObjectIdentifier($1)] = $1.invalidations.invalidationVersion }
  }

  /// The invalidation tables that have invalidations in force, by the generation of their partition.
  var invalidatedGenerations: [Generation: InvalidationTable] {
    var tables: [Generation: InvalidationTable] = [:]
    for partition in partitions where !partition.invalidations.isEmpty {
      let generation = partition.generation
      if generation != .zero { tables[generation] = partition.invalidations }
    }
    return tables
  }
}
