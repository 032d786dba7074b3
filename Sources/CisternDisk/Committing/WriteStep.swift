import CisternCore
import LMDB

/// The work of one write transaction on the tables. Only steps change an open store.
///
/// The step keeps its results for the state in memory. If the transaction aborts, the step is discarded with them. It
/// assigns versions to invalidations at once, because a reader can see the commit before the writer thread publishes
/// it.
struct WriteStep: ~Copyable {
  let file: DiskFile
  /// The work on records.
  var records: RecordWork
  /// The generation of each partition that the step has looked up, or zero if the partition has none.
  private(set) var generations: [ObjectIdentifier: Generation] = [:]
  /// The newest invalidation version of each partition, in file order.
  var fileVersions: [ObjectIdentifier: FileInvalidationVersion] = [:]
  /// The changes of the transaction so far, without those to records.
  var outcome = StepOutcome()

  /// Begins the work. Takes the state of a dense file, and reads it if another process has committed since.
  init(
    file: DiskFile, _ context: StepContext, _ extents: inout ExtentState?, in transaction: inout IndexTransaction
  ) throws(LMDBError) {
    self.file = file
    records = try RecordWork(file, context, &extents, in: &transaction)
  }

  /// The approximate number of pages that the transaction copies.
  var touchedPages: Int { outcome.touchedPages + records.touchedPages }

  /// Returns whether the caller should commit before it puts more records.
  ///
  /// - Parameter budget: The number of pages that the transaction may copy.
  /// - Returns: Whether the caller should commit.
  func isFull(budget: Int) -> Bool { touchedPages >= budget || records.shouldCommit }

  // MARK: Records

  /// Writes the record.
  ///
  /// - Parameters:
  ///   - draft: The record.
  ///   - partition: The partition.
  ///   - isProtected: Whether this transaction must not evict the record.
  ///   - transaction: The transaction.
  /// - Returns: Whether the transaction has room for the record. If not, the caller commits and tries again.
  /// - Throws: `LMDBError` if LMDB fails.
  mutating func put(
    _ draft: RecordDraft, for partition: Partition, protected isProtected: Bool = false,
    in transaction: inout IndexTransaction
  ) throws(LMDBError) -> Bool {
    let draft = versioned(draft, for: partition)
    let generation = try generation(of: partition, creating: true, in: &transaction.transaction)
    guard try records.put(draft, of: generation, protected: isProtected, in: &transaction) else { return false }
    outcome.countStore(of: partition)
    return true
  }

  /// Gives the key's record the times of the draft. Returns false if the two differ in more, and the draft must be put.
  mutating func renew(
    _ draft: RecordDraft, for partition: Partition, in transaction: inout IndexTransaction
  ) throws(LMDBError) -> Bool {
    let generation = try generation(of: partition, creating: false, in: &transaction.transaction)
    guard generation != .zero, try records.renew(draft, of: generation, in: &transaction) else { return false }
    outcome.countStore(of: partition)
    return true
  }

  /// Makes room in extents for all records of a batch. Returns whether they have room in this transaction, and their
  /// partitions have numbers.
  ///
  /// The caller puts the batch only if they have. Otherwise it commits and tries again.
  mutating func makeRoom(
    forBatch drafts: [(draft: RecordDraft, partition: Partition)], in transaction: inout IndexTransaction
  ) throws(LMDBError) -> Bool {
    var sizes: [Int] = []
    var byPartition: [ObjectIdentifier: Generation] = [:]
    for (draft, partition) in drafts {
      sizes.append(versioned(draft, for: partition).packedSize)
      byPartition[ObjectIdentifier(partition)] = try generation(
        of: partition, creating: false, in: &transaction.transaction)
    }
    // Before room is made: an eviction frees no number.
    if records.lacksNumbers(for: byPartition.values) { return false }
    return try records.makeRoom(forBatch: sizes, in: &transaction)
  }

  /// Notes that all records of a batch are put. Later records need further room.
  mutating func endBatch() { records.note(ordered: { _ in }, dense: { $0.endBatch() }) }

  /// Returns the record with the newest version in file order. An invalidation that is newer than the record and covers
  /// it is not in the file yet.
  private mutating func versioned(_ draft: RecordDraft, for partition: Partition) -> RecordDraft {
    draft.withVersion(fileVersion(of: partition))
  }

  /// Whether the write has no condition, or its condition holds for the key's record.
  ///
  /// A removal also takes place over a damaged record. Its caller has notified observers that the key has no value.
  mutating func allows(
    _ entry: StagedEntry, of partition: Partition, in transaction: inout IndexTransaction
  ) throws(LMDBError) -> Bool {
    guard let condition = partition.condition(of: entry) else { return true }
    let generation = try generation(of: partition, creating: false, in: &transaction.transaction)
    guard generation != .zero else { return false }
    let isRemoval = if case .removal = entry.write { true } else { false }
    return try records.allows(
      condition, orIfDamaged: isRemoval, for: entry.write.key, of: generation, in: &transaction)
  }

  private mutating func fileVersion(of partition: Partition) -> FileInvalidationVersion {
    let identity = ObjectIdentifier(partition)
    if let known = fileVersions[identity] { return known }
    let invalidationVersion = partition.invalidations.fileVersion
    fileVersions[identity] = invalidationVersion
    return invalidationVersion
  }

  /// Removes the key's record, if the file has one, and names no other codec for it.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - partition: The partition.
  ///   - transaction: The transaction.
  /// - Throws: `LMDBError` if LMDB fails.
  mutating func remove(
    _ key: [UInt8], of partition: Partition, in transaction: inout IndexTransaction
  ) throws(LMDBError) {
    let generation = try generation(of: partition, creating: false, in: &transaction.transaction)
    guard generation != .zero else { return }
    // The write that the removal stands for can be one that the file refused, or a record that this codec cannot
    // decode.
    if try hasRecordOfOtherCodec(key, of: generation, in: partition, &transaction) { return }
    switch try records.remove(key, of: generation, in: &transaction) {
    case .sound?, .damaged?: outcome.countRemoval(of: partition)
    case nil: break
    }
  }

  /// Removes the key's record if it is damaged.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - partition: The partition.
  ///   - transaction: The transaction.
  /// - Returns: The record that was removed; nil if the key has no damaged record.
  /// - Throws: `LMDBError` if LMDB fails.
  mutating func removeDamaged(
    _ key: [UInt8], of partition: Partition, in transaction: inout IndexTransaction
  ) throws(LMDBError) -> RemovedDamage? {
    let generation = try generation(of: partition, creating: false, in: &transaction.transaction)
    return generation == .zero ? nil : try records.removeDamaged(key, of: generation, in: &transaction)
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
    let current = try transaction.generation(forKey: name, in: file.meta) ?? .zero
    generations[identity] = current
    if current != .zero || !creating { return current }
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

  /// Writes the last rows. It must be the last change of the transaction. The outcome is then complete.
  mutating func finish(in transaction: inout IndexTransaction) throws(LMDBError) {
    try records.finish(hasChanges: outcome.hasChanges, in: &transaction)
    outcome.hasChanges = outcome.hasChanges || records.hasChanges
    outcome.evicted = records.evicted
    outcome.generations = generations
    outcome.counts = records.counts
  }

  /// Returns the state of a dense file after the commit. Nil for another layout.
  consuming func committed() -> ExtentState? { records.committed() }

  /// Takes back the versions of invalidations. Returns the state of a dense file after an abort. Nil for another
  /// layout.
  consuming func aborted() -> ExtentState? {
    for (partition, _, _) in outcome.invalidations { partition.invalidations.withdrawAssigned() }
    return records.aborted()
  }
}
