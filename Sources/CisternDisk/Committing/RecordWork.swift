import CisternCore
import LMDB

/// The work of one write transaction on records, by the layout of the file.
enum RecordWork: ~Copyable {
  case ordered(RecordStep)
  case dense(Extents)

  /// The work on records in extents, with the tables.
  struct Extents: ~Copyable {
    var step: ExtentStep
    let tables: DenseTables

    consuming func end() -> ExtentStep { step }
  }

  /// Begins the work. Takes the state of a dense file, and reads it if another process has committed since.
  init(
    _ file: DiskFile, _ context: StepContext, _ extents: inout ExtentState?, in transaction: inout IndexTransaction
  ) throws(LMDBError) {
    switch file.layout {
    case .ordered(let tables):
      self = .ordered(
        try RecordStep(
          tables, meta: file.meta, recency: context.recency, invalidated: context.invalidated,
          in: &transaction.transaction))
    case .dense(let tables):
      let target = ExtentTransaction(transaction, tables)
      do throws(LMDBError) {
        let step = try ExtentStep(file, context, &extents, in: target)
        self = .dense(Extents(step: step, tables: tables))
        transaction = target.endIndexed()
      } catch {
        transaction = target.endIndexed()
        throw error
      }
    }
  }

  /// Calls one of the closures with the work and the transaction.
  mutating func change<Result>(
    in transaction: inout IndexTransaction,
    ordered: (inout RecordStep, inout WriteTransaction) throws(LMDBError) -> Result,
    dense: (inout ExtentStep, inout ExtentTransaction) throws(LMDBError) -> Result
  ) throws(LMDBError) -> Result {
    switch consume self {
    case .ordered(var step):
      do throws(LMDBError) {
        let result = try ordered(&step, &transaction.transaction)
        self = .ordered(step)
        return result
      } catch {
        self = .ordered(step)
        throw error
      }
    case .dense(var work):
      var target = ExtentTransaction(transaction, work.tables)
      do throws(LMDBError) {
        let result = try dense(&work.step, &target)
        transaction = target.endIndexed()
        self = .dense(work)
        return result
      } catch {
        transaction = target.endIndexed()
        self = .dense(work)
        throw error
      }
    }
  }

  /// Calls one of the closures with the work, for a change of its state alone.
  mutating func note(ordered: (inout RecordStep) -> Void, dense: (inout ExtentStep) -> Void) {
    switch consume self {
    case .ordered(var step):
      ordered(&step)
      self = .ordered(step)
    case .dense(var work):
      dense(&work.step)
      self = .dense(work)
    }
  }

  // MARK: Records

  /// Writes the record.
  ///
  /// - Parameters:
  ///   - draft: The record.
  ///   - generation: The generation of its partition.
  ///   - isProtected: Whether this transaction must not evict the record.
  ///   - transaction: The transaction.
  /// - Returns: Whether the transaction has room for the record. If not, the caller commits and tries again.
  /// - Throws: `LMDBError` if LMDB fails.
  mutating func put(
    _ draft: RecordDraft, of generation: Generation, protected isProtected: Bool,
    in transaction: inout IndexTransaction
  ) throws(LMDBError) -> Bool {
    try change(in: &transaction) { (step, transaction) throws(LMDBError) in
      try step.put(draft, of: generation, protected: isProtected, in: &transaction)
      return true
    } dense: { (step, target) throws(LMDBError) in
      // No transaction evicts the records that it has put into extents.
      try step.put(draft, of: generation, in: &target)
    }
  }

  /// Gives the key's record the times of the draft. Returns false if the two differ in more, and the draft must be put.
  mutating func renew(
    _ draft: RecordDraft, of generation: Generation, in transaction: inout IndexTransaction
  ) throws(LMDBError) -> Bool {
    try change(in: &transaction) { (step, transaction) throws(LMDBError) in
      try step.renew(draft, of: generation, in: &transaction)
    } dense: { (step, target) throws(LMDBError) in
      try step.renew(draft, of: generation, in: &target)
    }
  }

  /// Whether the condition holds for the key's record. False if the key has none. `admitsDamage` is the result for a
  /// damaged record.
  mutating func allows(
    _ condition: RecordCondition, orIfDamaged admitsDamage: Bool, for key: [UInt8], of generation: Generation,
    in transaction: inout IndexTransaction
  ) throws(LMDBError) -> Bool {
    try change(in: &transaction) { (step, transaction) throws(LMDBError) in
      try step.allows(condition, orIfDamaged: admitsDamage, for: key, of: generation, in: transaction)
    } dense: { (step, target) throws(LMDBError) in
      try step.allows(condition, orIfDamaged: admitsDamage, for: key, of: generation, in: &target)
    }
  }

  /// Returns the schema version of the key's record. Nil if the key has no sound record.
  mutating func schemaVersion(
    ofRecord key: [UInt8], of generation: Generation, in transaction: inout IndexTransaction
  ) throws(LMDBError) -> UInt32? {
    try change(in: &transaction) { (step, transaction) throws(LMDBError) -> UInt32? in
      try step.schemaVersion(ofRecord: key, of: generation, in: transaction)
    } dense: { (step, target) throws(LMDBError) -> UInt32? in
      try step.schemaVersion(ofRecord: key, of: generation, in: &target)
    }
  }

  /// Removes the key's record, if the file has one.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - generation: The generation of its partition.
  ///   - transaction: The transaction.
  /// - Returns: The removal; nil if the key has no record.
  /// - Throws: `LMDBError` if LMDB fails.
  mutating func remove(
    _ key: [UInt8], of generation: Generation, in transaction: inout IndexTransaction
  ) throws(LMDBError) -> RecordRemoval? {
    try change(in: &transaction) { (step, transaction) throws(LMDBError) in
      try step.remove(key, of: generation, in: &transaction)
    } dense: { (step, target) throws(LMDBError) in
      try step.remove(key, of: generation, in: &target)
    }
  }

  /// Removes the key's record if it is damaged. Returns nil if the key has no damaged record.
  mutating func removeDamaged(
    _ key: [UInt8], of generation: Generation, in transaction: inout IndexTransaction
  ) throws(LMDBError) -> RemovedDamage? {
    try change(in: &transaction) { (step, transaction) throws(LMDBError) in
      try step.removeDamaged(key, of: generation, in: &transaction)
    } dense: { (step, target) throws(LMDBError) in
      try step.removeDamaged(key, of: generation, in: &target)
    }
  }

  // MARK: Purges

  /// Removes up to `count` records of a dead generation.
  ///
  /// Returns the approximate number of bytes that they occupied in the file, their number, and whether the generation
  /// is empty. The method then removes the row of the dead generation.
  mutating func purge(
    _ generation: Generation, upTo count: Int, in transaction: inout IndexTransaction
  ) throws(LMDBError) -> (bytes: Int, count: Int, isDone: Bool) {
    try change(in: &transaction) { (step, transaction) throws(LMDBError) in
      try step.purge(generation, upTo: count, in: &transaction)
    } dense: { (step, target) throws(LMDBError) in
      let former = step.state.log.liveBytes
      let purged = try step.purge(generation, upTo: count, in: &target)
      return (former - step.state.log.liveBytes, purged.count, purged.isDone)
    }
  }

  /// Removes the found records that the set conceals. Their removal is not reported as a loss.
  mutating func purge(
    _ found: PurgeWalk.Found, of generation: Generation, concealedBy set: InvalidationSet<FileInvalidationVersion>,
    in transaction: inout IndexTransaction
  ) throws(LMDBError) {
    try change(in: &transaction) { (step, transaction) throws(LMDBError) in
      try step.purge(found.keys, concealedBy: set, in: &transaction)
    } dense: { (step, target) throws(LMDBError) in
      try step.purge(found.digests, of: generation, concealedBy: set, in: &target)
    }
  }

  // MARK: Generations

  /// Notes that the generation begins in this transaction, without records.
  mutating func noteNew(_ generation: Generation) {
    note {
      $0.noteNew(generation)
    } dense: {
      $0.noteNew(generation)
    }
  }

  /// Notes that the generation has become dead in this transaction.
  mutating func noteDead(_ generation: Generation) {
    note {
      $0.noteDead(generation)
    } dense: {
      $0.noteDead(generation)
    }
  }

  /// The counts of each generation that the step has read. The value is nil for a dead generation.
  var counts: [Generation: GenerationCounts?] {
    switch self {
    case .ordered(let step): step.counts
    case .dense(let work): work.step.counts
    }
  }

  // MARK: Ends

  /// Writes the last rows. It must be the last change of the transaction.
  ///
  /// - Parameters:
  ///   - hasChanges: Whether the transaction changes other rows of the file.
  ///   - transaction: The transaction.
  /// - Throws: `LMDBError` if LMDB fails.
  mutating func finish(hasChanges: Bool, in transaction: inout IndexTransaction) throws(LMDBError) {
    let number = transaction.transaction.number
    try change(in: &transaction) { (step, transaction) throws(LMDBError) in
      try step.finish(in: &transaction)
    } dense: { (step, target) throws(LMDBError) in
      // The state must follow each commit. Otherwise the next transaction would read it again.
      if hasChanges { step.outcome.hasChanges = true }
      let isDue = number % RecordWork.commitsBetweenLiveBytes == 0
      try step.finish(withLiveBytes: isDue || step.writesLiveBytes, in: &target)
    }
  }

  /// The number of commits after which the rows of extents get their live bytes.
  private static let commitsBetweenLiveBytes: UInt = 64

  /// Returns the state of a dense file after the commit.
  consuming func committed() -> ExtentState? {
    switch consume self {
    case .ordered: nil
    case .dense(let work): work.end().committed()
    }
  }

  /// Returns the state of a dense file after an abort.
  consuming func aborted() -> ExtentState? {
    switch consume self {
    case .ordered: nil
    case .dense(let work): work.end().aborted()
    }
  }
}
