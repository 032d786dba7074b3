import CisternCore
import LMDB

/// The work of one write transaction on records that are values under their keys.
///
/// If the transaction aborts, the step is discarded. It sets and clears recency marks at once, which does no harm. It
/// clears the mark of a sequence number only when it assigns the number. No older record can then have the number.
struct RecordStep {
  let tables: OrderedTables
  let meta: Database
  let recency: RecencyBitmap
  /// The invalidation tables that have invalidations in force, by the generation of their partition.
  let invalidated: [Generation: InvalidationTable]
  /// The greatest sequence number in use.
  var lastSequence: SequenceNumber
  /// The counts of each generation that the step has read. The value is nil for a dead generation.
  var counts: [Generation: GenerationCounts?] = [:]
  /// The counts in the file, for each live generation that the step has read.
  var notedCounts: [Generation: GenerationCounts] = [:]
  /// Whether any record of the file has a renewal. Nil until the step asks.
  var hasRenewals: Bool?
  /// The sequence numbers of batch records that this transaction has put. The transaction does not evict them.
  private var protected: Set<SequenceNumber> = []
  /// The position in the commit order before which the items are put, in this transaction or in an earlier one.
  var position = 0
  /// The changes of the transaction so far.
  var outcome = RecordOutcome()

  init(
    _ tables: OrderedTables, meta: Database, recency: RecencyBitmap, invalidated: [Generation: InvalidationTable],
    in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    self.tables = tables
    self.meta = meta
    self.recency = recency
    self.invalidated = invalidated
    var cursor = try transaction.cursor(in: tables.order)
    lastSequence = try cursor.moveToLast() ? SequenceNumber(orderKey: cursor.key ?? 0) : .zero
    guard lastSequence < SequenceNumber.limit else {
      throw LMDBError(
        .corrupted, operation: "number a record",
        message: "the newest record number is invalid: \(lastSequence.number)")
    }
  }

  /// Writes the record.
  ///
  /// A record that replaces another one keeps its place in the eviction order, and is marked as read. This saves
  /// two changes of the order.
  ///
  /// - Parameters:
  ///   - draft: The record.
  ///   - generation: The generation of its partition.
  ///   - isProtected: Whether this transaction must not evict the record.
  ///   - transaction: The transaction.
  /// - Throws: `LMDBError` if LMDB fails.
  mutating func put(
    _ draft: borrowing RecordDraft, of generation: Generation, protected isProtected: Bool = false,
    in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    _ = try liveCounts(generation, in: transaction)
    let key = DiskKey(generation: generation, key: draft.key.rawSpan)
    let size = draft.size
    let sequence: SequenceNumber
    switch try removable(under: key, in: transaction) {
    case .record(let number, let oldSize, _):
      sequence = number
      recency.mark(number)
      try removeRenewal(ofSize: oldSize, under: key, in: &transaction)
      change(generation, records: 0, bytes: size - oldSize)
    case .damaged(let oldSize):
      try removeRenewal(ofSize: oldSize, under: key, in: &transaction)
      try removeOrder(under: key, in: &transaction)
      sequence = try appendOrder(key, in: &transaction)
      change(generation, records: 0, bytes: size - oldSize)
    case nil:
      sequence = try appendOrder(key, in: &transaction)
      change(generation, records: 1, bytes: size + key.count)
    }
    if isProtected { protected.insert(sequence) }
    let bytes = key.copiedBytes()
    var target = try transaction.reserve(byteCount: size, forKey: bytes.rawSpan, in: tables.records)
    draft.encode(sequence: sequence, under: key, into: &target)
    outcome.hasChanges = true
    outcome.touchedPages += 1 + DiskLimits.overflowPages(size)
  }

  /// Whether the condition holds for the key's record. False if the key has none. `admitsDamage` is the result for a
  /// damaged record.
  mutating func allows(
    _ condition: RecordCondition, orIfDamaged admitsDamage: Bool, for fullKey: [UInt8], of generation: Generation,
    in transaction: borrowing WriteTransaction
  ) throws(LMDBError) -> Bool {
    let key = DiskKey(generation: generation, key: fullKey.rawSpan)
    guard let record = try transaction.value(forKey: key, in: tables.records) else { return false }
    guard let header = RecordHeader(record, under: key) else { return admitsDamage }
    guard !key.isDigest || record.extracting(header.key).hasSameBytes(as: fullKey.rawSpan) else { return false }
    var metadata = header.metadata(of: record)
    try renew(&metadata, valueSize: header.value.count, under: key, in: transaction)
    return condition.allows(for: metadata, record.extracting(header.value))
  }

  /// Returns the schema version of the key's record. Nil if the key has no sound record.
  func schemaVersion(
    ofRecord fullKey: [UInt8], of generation: Generation, in transaction: borrowing WriteTransaction
  ) throws(LMDBError) -> UInt32? {
    let key = DiskKey(generation: generation, key: fullKey.rawSpan)
    guard let record = try transaction.value(forKey: key, in: tables.records) else { return nil }
    guard let header = RecordHeader(record, under: key) else { return nil }
    guard !key.isDigest || record.extracting(header.key).hasSameBytes(as: fullKey.rawSpan) else { return nil }
    return header.metadata(of: record).schemaVersion
  }

  /// Removes the key's record, if the file has one.
  ///
  /// - Parameters:
  ///   - fullKey: The key in the file.
  ///   - generation: The generation of its partition.
  ///   - transaction: The transaction.
  /// - Returns: The removal; nil if the key has no record.
  /// - Throws: `LMDBError` if LMDB fails.
  mutating func remove(
    _ fullKey: [UInt8], of generation: Generation, in transaction: inout WriteTransaction
  ) throws(LMDBError) -> RecordRemoval? {
    let key = DiskKey(generation: generation, key: fullKey.rawSpan)
    switch try removable(under: key, in: transaction) {
    case .record(let sequence, let size, let digested):
      // A record of another key with the same digest stays.
      if digested.map({ $0 != fullKey }) ?? false { return nil }
      try drop(key, sequence: sequence, size: size, in: &transaction)
      return .sound
    case .damaged(let size):
      try dropUnverified(key, size: size, in: &transaction)
      return .damaged
    case nil: return nil
    }
  }

  /// Removes the key's record if it is damaged. Returns nil if the key has no damaged record.
  mutating func removeDamaged(
    _ fullKey: [UInt8], of generation: Generation, in transaction: inout WriteTransaction
  ) throws(LMDBError) -> RemovedDamage? {
    let key = DiskKey(generation: generation, key: fullKey.rawSpan)
    guard case .damaged(let size) = try present(under: key, in: transaction) else { return nil }
    var removed = RemovedDamage.visible
    if let record = try transaction.value(forKey: key, in: tables.records), let header = RecordHeader(trusting: record),
      isConcealed(header.metadata(of: record), fullKey, of: generation)
    {
      removed = .concealed
    }
    try dropUnverified(key, size: size, in: &transaction)
    return removed
  }

  /// Evicts the oldest record.
  ///
  /// If `givesSecondChances` is true and the record is marked as read, it gets a second chance instead. It moves to the
  /// end of the order without a mark.
  mutating func evictOldest(
    givingSecondChances givesSecondChances: Bool, in transaction: inout WriteTransaction
  ) throws(LMDBError) -> OldestRecordEviction {
    guard let (sequence, key) = try oldest(in: &transaction) else { return .noRecord }
    guard let key, case .record(let number, let size, _) = try present(under: key, in: transaction),
      number == sequence
    else {
      // Damage left an entry that does not refer to a sound record with this sequence number.
      try evictDangling(sequence, key, in: &transaction)
      return .evicted(bytes: 0)
    }
    // An invalidated record gets no second chance, and its eviction is not reported.
    let isLive = try liveCounts(key.generation, in: transaction) != nil
    let evicted = isLive ? try evicted(key, in: transaction) : nil
    let isProtected = protected.remove(sequence) != nil
    if isProtected || (givesSecondChances && evicted != nil && recency.isMarked(sequence)) {
      try moveToTail(key, from: sequence, in: &transaction)
      if isProtected { protected.insert(lastSequence) }
      outcome.touchedPages += 2 + DiskLimits.overflowPages(size)
      return .secondChance
    }
    try drop(key, sequence: sequence, size: size, in: &transaction)
    if let evicted { outcome.evicted.append(evicted) }
    return .evicted(bytes: StepOutcome.footprint(size: size, key: key.count))
  }

  /// Removes up to `count` records of a dead generation.
  ///
  /// Returns the approximate number of bytes that they occupied in the file, their number, and whether the generation
  /// is empty. The method then removes the row of the dead generation.
  mutating func purge(
    _ generation: Generation, upTo count: Int, in transaction: inout WriteTransaction
  ) throws(LMDBError) -> (bytes: Int, count: Int, isDone: Bool) {
    let start = DiskKey(startOf: generation)
    var bytes = 0
    for removed in 0..<count {
      guard let key = try first(from: start, in: &transaction), key.generation == generation else {
        if try transaction.remove(MetaTable.dead(generation), in: meta) { outcome.hasChanges = true }
        return (bytes, removed, true)
      }
      switch try removable(under: key, in: transaction) {
      case .record(let sequence, let size, _):
        try drop(key, sequence: sequence, size: size, in: &transaction)
        bytes += StepOutcome.footprint(size: size, key: key.count)
      case .damaged(let size): try dropUnverified(key, size: size, in: &transaction)
      case nil: break
      }
    }
    return (bytes, count, false)
  }

  // MARK: Counts

  /// Notes that the generation begins in this transaction, without records.
  mutating func noteNew(_ generation: Generation) { counts[generation] = GenerationCounts() }

  /// Notes that the generation has become dead in this transaction.
  mutating func noteDead(_ generation: Generation) { counts[generation] = .some(nil) }

  /// Writes the changed counts. It must be the last change of the transaction.
  ///
  /// Unchanged counts are not written: each row that is written costs copies of all pages on the path to it. Counts
  /// often stay the same, because a new value often has the size of the old one.
  mutating func finish(in transaction: inout WriteTransaction) throws(LMDBError) {
    for (generation, counts) in counts {
      guard let counts, counts != notedCounts[generation] else { continue }
      try transaction.put(counts.value, forKey: MetaTable.live(generation), in: meta)
      outcome.hasChanges = true
    }
  }
}
