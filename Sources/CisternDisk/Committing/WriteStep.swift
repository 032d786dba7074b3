import CisternCore
import LMDB

/// The work of one write transaction on the tables. Only steps change an open store.
///
/// The step keeps its results for the state in memory. If the transaction aborts, the step is discarded with them. It
/// assigns versions to invalidations at once, because a reader can see the commit before the writer thread publishes it.
struct WriteStep {
  let file: DiskFile
  /// The work on records.
  var records: RecordStep
  /// The generation of each partition that the step has looked up, or zero if the partition has none.
  private(set) var generations: [ObjectIdentifier: Generation] = [:]
  /// The newest invalidation version of each partition, in file order.
  var fileVersions: [ObjectIdentifier: FileInvalidationVersion] = [:]
  /// The changes of the transaction so far, without those to records.
  var outcome = StepOutcome()

  init(
    file: DiskFile, recency: RecencyBitmap, invalidated: [Generation: InvalidationTable] = [:],
    in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    self.file = file
    records = try RecordStep(
      file.recordTables, meta: file.meta, recency: recency, invalidated: invalidated, in: &transaction)
  }

  /// Whether the transaction changes the file. Without changes, LMDB does not use up the transaction's number.
  var hasChanges: Bool { outcome.hasChanges || records.outcome.hasChanges }
  /// The approximate number of pages that the transaction copies.
  var touchedPages: Int { outcome.touchedPages + records.outcome.touchedPages }

  // MARK: Records

  /// Writes the record.
  ///
  /// - Parameter isProtected: Whether this transaction must not evict the record.
  mutating func put(
    _ draft: consuming RecordDraft, for partition: Partition, protected isProtected: Bool = false,
    in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    // The record gets the newest version in file order. An invalidation that is newer than the record and covers it
    // is not in the file yet.
    let draft = draft.withVersion(fileVersion(of: partition))
    let generation = try generation(of: partition, creating: true, in: &transaction)
    try records.put(draft, of: generation, protected: isProtected, in: &transaction)
    outcome.stored(partition)
  }

  /// Whether the write has no condition, or its condition holds for the key's record.
  mutating func allows(
    _ entry: StagedEntry, of partition: Partition, in transaction: inout WriteTransaction
  ) throws(LMDBError) -> Bool {
    guard let condition = entry.condition else { return true }
    let generation = try generation(of: partition, creating: false, in: &transaction)
    guard generation != .zero else { return false }
    return try records.allows(condition, for: entry.write.key, of: generation, in: transaction)
  }

  private mutating func fileVersion(of partition: Partition) -> FileInvalidationVersion {
    let identity = ObjectIdentifier(partition)
    if let known = fileVersions[identity] { return known }
    let invalidationVersion = partition.invalidations.fileVersion
    fileVersions[identity] = invalidationVersion
    return invalidationVersion
  }

  /// Removes the key's record, if the file has one.
  ///
  /// - Parameter onlyIfDamaged: Whether a sound record stays.
  mutating func remove(
    _ key: [UInt8], of partition: Partition, onlyIfDamaged: Bool = false, in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    let generation = try generation(of: partition, creating: false, in: &transaction)
    guard generation != .zero else { return }
    let removal = try records.remove(key, of: generation, onlyIfDamaged: onlyIfDamaged, in: &transaction)
    guard let removal else { return }
    if onlyIfDamaged, removal == .damaged { outcome.damaged.append((partition, key)) } else { outcome.removed(partition) }
  }

  // MARK: Generations

  /// Removes all records of the partition. Its generation becomes dead with this commit, and is purged later.
  mutating func removeAll(of partition: Partition, in transaction: inout WriteTransaction) throws(LMDBError) {
    let generation = try generation(of: partition, creating: false, in: &transaction)
    guard generation != .zero else { return }
    _ = try transaction.remove(MetaTable.partition(partition.name), in: file.meta)
    _ = try transaction.remove(MetaTable.live(generation), in: file.meta)
    try transaction.put(MetaTable.value(0), forKey: MetaTable.dead(generation), in: file.meta)
    records.noteDead(generation)
    generations[ObjectIdentifier(partition)] = .zero
    outcome.hasChanges = true
    outcome.hasDeadGenerations = true
  }

  /// Returns the partition's generation. If the partition has none, the method creates one, or returns zero if
  /// `creating` is false.
  mutating func generation(
    of partition: Partition, creating: Bool, in transaction: inout WriteTransaction
  ) throws(LMDBError) -> Generation {
    let identity = ObjectIdentifier(partition)
    if let known = generations[identity], known != .zero || !creating { return known }
    let name = MetaTable.partition(partition.name)
    let present = try transaction.generation(forKey: name, in: file.meta) ?? .zero
    generations[identity] = present
    if present != .zero || !creating { return present }
    let generation = try transaction.generation(forKey: MetaTable.next, in: file.meta) ?? .first
    guard generation < DiskKey.generationLimit else {
      throw LMDBError(
        .corrupted, operation: "begin a generation",
        message: "the next generation number is invalid: \(generation.number)")
    }
    try transaction.put(MetaTable.value(generation.next()), forKey: MetaTable.next, in: file.meta)
    try transaction.put(MetaTable.value(generation), forKey: name, in: file.meta)
    generations[identity] = generation
    records.noteNew(generation)
    outcome.hasChanges = true
    return generation
  }

  /// Writes the last rows. It must be the last change of the transaction.
  mutating func finish(in transaction: inout WriteTransaction) throws(LMDBError) {
    try records.finish(in: &transaction)
  }

  /// Returns the counts of a generation that the step has read, or nil for any other generation.
  func counts(of generation: Generation) -> GenerationCounts? { records.counts[generation] ?? nil }
}
