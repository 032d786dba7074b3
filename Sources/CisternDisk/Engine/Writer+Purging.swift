import LMDB

extension Writer {
  /// Goes on with the walk that is under way, or begins one. Readers are not held up, and writers of other processes only
  /// while something is removed.
  func purgeSomeInvalidated() throws(LMDBError) {
    guard let file = engine.file else { return }
    if walk == nil { walk = try nextWalk(in: file) }
    guard var walk else { return }
    let keys = try walk.next(max(1, engine.limits.pagesPerTransaction / 4), in: file)
    if !keys.isEmpty {
      try chore(in: file) { (step, transaction) throws(LMDBError) in
        try step.purge(keys, concealedBy: walk.set, in: &transaction)
      }
    }
    guard walk.isDone else {
      self.walk = walk
      return
    }
    self.walk = nil
    let ended = try chore(in: file) { (step, transaction) throws(LMDBError) -> (row: EraRow, number: UInt)? in
      // Everything was removed, and more has been written, since the walk began: then there are others to see.
      guard try step.generation(of: walk.partition, creating: false, in: &transaction) == walk.generation else {
        return nil
      }
      let kept = engine.limits.endedInvalidations
      return (
        try step.end(walk.targets, of: walk.partition, keeping: kept, in: &transaction), transaction.number
      )
    }
    guard let ended else { return }
    for part in walk.targetParts {
      walk.partition.invalidations.purged(part, row: ended.row, transaction: ended.number)
    }
  }

  private func nextWalk(in file: DiskFile) throws(LMDBError) -> PurgeWalk? {
    for partition in engine.partitions {
      let targets = partition.invalidations.purgeable
      guard !targets.isEmpty else { continue }
      // The file's, not what is read: a removal of all may be staged, and not outlive a crash.
      let generation = try file.environment.withRead { (transaction) throws(LMDBError) in
        try transaction.number(forKey: MetaTable.partition(partition.name), in: file.meta) ?? 0
      }
      return PurgeWalk(partition: partition, generation: generation, targets: targets)
    }
    return nil
  }
}

extension DiskEngine {
  /// The newest invalidation of each partition.
  var invalidationEras: [ObjectIdentifier: UInt64] {
    partitions.reduce(into: [:]) { $0[ObjectIdentifier($1)] = $1.invalidations.era }
  }

  /// The invalidations that are in force, by the generation of their partition.
  var invalidatedGenerations: [UInt64: InvalidationTable] {
    var tables: [UInt64: InvalidationTable] = [:]
    for partition in partitions where !partition.invalidations.isEmpty {
      let generation = partition.generation
      if generation != 0 { tables[generation] = partition.invalidations }
    }
    return tables
  }
}
