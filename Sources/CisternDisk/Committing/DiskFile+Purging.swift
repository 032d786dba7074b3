import CisternCore
import LMDB

extension DiskFile {
  /// Returns the names of all partitions that can have records, in byte order.
  func partitionNames() throws(LMDBError) -> [String] {
    try environment.withRead { (transaction) throws(LMDBError) in
      let prefix = MetaTable.partition("")
      return try transaction.names(in: meta, under: prefix, at: prefix.count)
    }
  }

  /// Removes every record that readers do not see: records of dead generations, and records that an invalidation
  /// conceals.
  ///
  /// The invalidations end with it. No other process may have the file open.
  ///
  /// Each transaction removes at most `count` records, because it copies the pages that it changes.
  ///
  /// - Complexity: O(*n*), where *n* is the number of records that are removed. An invalidation by tag adds all
  ///   records of its partition.
  func purge(upTo count: Int) throws(LMDBError) {
    var extents: ExtentState?
    var dead = try deadGenerations()
    while !dead.isEmpty {
      let ended = try step(&extents) { (step, transaction) throws(LMDBError) in
        try step.purge(dead, upTo: count, in: &transaction)
      }
      dead.removeLast(ended)
    }
    // A cleared partition has no generation, and can have invalidations.
    let names = try environment.withRead { (transaction) throws(LMDBError) in
      try transaction.knownPartitionNames(in: meta)
    }
    for name in names.sorted() { try purgeInvalidated(Partition(name: name), upTo: count, &extents) }
  }

  private func purgeInvalidated(
    _ partition: Partition, upTo count: Int, _ extents: inout ExtentState?
  ) throws(LMDBError) {
    let (generation, targets) = try environment.withRead {
      (transaction) throws(LMDBError) -> (Generation, [Invalidation: FileInvalidationVersion]) in
      (
        try transaction.generation(forKey: MetaTable.partition(partition.name), in: meta) ?? .zero,
        try transaction.invalidationRows(of: partition.name, endedAfter: .max, in: meta).inForce
      )
    }
    guard !targets.isEmpty else { return }
    var walk = PurgeWalk(of: partition, generation, in: layout.kind, targets: targets)
    while !walk.isDone {
      let found = try walk.next(count, in: self)
      guard !found.isEmpty else { continue }
      try step(&extents) { (step, transaction) throws(LMDBError) in
        try step.records.purge(found, of: generation, concealedBy: walk.set, in: &transaction)
      }
    }
    try step(&extents) { (step, transaction) throws(LMDBError) in
      _ = try step.end(targets, of: partition, keeping: 0, in: &transaction.transaction)
    }
  }

  /// Returns the generations whose records are not purged yet, although no reader sees them. Returns at most `limit` of
  /// them.
  func deadGenerations(limit: Int = .max) throws(LMDBError) -> [Generation] {
    try environment.withRead { (transaction) throws(LMDBError) -> [Generation] in
      var found: [Generation] = []
      var cursor = try transaction.cursor(in: meta)
      var isAtDead = try cursor.move(toFirstFrom: [MetaTable.deadPrefix].rawSpan)
      while isAtDead, found.count < limit, let generation = MetaTable.deadGeneration(at: cursor) {
        found.append(generation)
        isAtDead = try cursor.moveToNext()
      }
      return found
    }
  }

  /// Runs `body` in a write transaction.
  private func step<Result>(
    _ extents: inout ExtentState?, _ body: (inout WriteStep, inout IndexTransaction) throws(LMDBError) -> Result
  ) throws(LMDBError) -> Result {
    try withStep(StepContext(), &extents) { (step, transaction) throws(LMDBError) -> Result in
      let result = try body(&step, &transaction)
      try step.finish(in: &transaction)
      return result
    }
  }
}
