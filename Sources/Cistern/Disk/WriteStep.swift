import LMDB

/// One write transaction's work on the tables: they change together here, and nowhere else.
///
/// A value of the transaction's own: where the transaction is aborted, it is thrown away, so that nothing in memory is
/// changed by what was not committed. Marks of use are therefore only looked at: that of a number goes when the number is
/// given out, which is when it can no longer be an older record's.
struct WriteStep {
  let file: DiskFile
  let recency: RecencyBitmap
  /// The invalidations of each generation's partition where any are in force.
  let invalidated: [UInt64: InvalidationTable]
  /// The greatest sequence number in use.
  var lastSequence: UInt64
  /// The counts of each live generation that was met; nil for one that is dead.
  var counts: [UInt64: GenerationCounts?] = [:]
  /// What the file has of them.
  var notedCounts: [UInt64: GenerationCounts] = [:]
  /// The generation of each partition that was met; zero for none.
  private(set) var generations: [ObjectIdentifier: UInt64] = [:]
  /// The newest invalidation of each partition that was met, by the file's order.
  var fileEras: [ObjectIdentifier: UInt64] = [:]
  /// Sequence numbers of a batch's records, which this transaction has put.
  private var protected: Set<UInt64> = []
  /// What was done.
  var outcome = StepOutcome()

  init(
    file: DiskFile, recency: RecencyBitmap, invalidated: [UInt64: InvalidationTable] = [:],
    in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    self.file = file
    self.recency = recency
    self.invalidated = invalidated
    var cursor = try transaction.cursor(in: file.order)
    lastSequence = try cursor.moveToLast() ? UInt64(cursor.key ?? 0) : 0
    guard lastSequence < WriteStep.sequenceLimit else {
      throw LMDBError(.corrupted, operation: "number a record", message: "the newest record has number \(lastSequence)")
    }
  }

  /// No store comes to so many records in its life: a greater number is damage.
  private static let sequenceLimit: UInt64 = 1 << 62

  // MARK: Records

  /// Writes the record. One that is replaced leaves its place in the order of eviction to it, marked as used: that spares
  /// two changes of the order.
  ///
  /// One that is `protected` is not evicted by this transaction.
  mutating func put(
    _ given: RecordDraft, for partition: Partition, protected isProtected: Bool = false,
    in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    // An invalidation that concerns the record, and comes after it, is not in the file yet.
    let draft = given.stamped(era: fileEra(of: partition))
    let generation = try generation(of: partition, creating: true, in: &transaction)
    _ = try liveCounts(generation, in: transaction)
    let key = DiskKey(generation: generation, key: draft.key.rawSpan)
    let size = draft.size
    let sequence: UInt64
    switch try departing(under: key, in: transaction) {
    case .record(let number, let oldSize, _):
      sequence = number
      recency.mark(number)
      change(generation, records: 0, bytes: size - oldSize)
    case .damaged(let oldSize):
      try removeOrder(under: key, in: &transaction)
      sequence = try appendOrder(key, in: &transaction)
      change(generation, records: 0, bytes: size - oldSize)
    case nil:
      sequence = try appendOrder(key, in: &transaction)
      change(generation, records: 1, bytes: size + key.count)
    }
    if isProtected { protected.insert(sequence) }
    let bytes = key.copiedBytes()
    var target = try transaction.reserve(byteCount: size, forKey: bytes.rawSpan, in: file.records)
    draft.encode(sequence: sequence, under: key, into: &target)
    outcome.hasChanges = true
    outcome.stored(partition)
    outcome.touchedPages += 1 + StepOutcome.overflowPages(size)
  }

  private mutating func fileEra(of partition: Partition) -> UInt64 {
    let identity = ObjectIdentifier(partition)
    if let known = fileEras[identity] { return known }
    let era = partition.invalidations.fileEra
    fileEras[identity] = era
    return era
  }

  /// Removes the key's record, if it has one; `onlyIfDamaged` spares a sound one.
  mutating func remove(
    _ fullKey: [UInt8], of partition: Partition, onlyIfDamaged: Bool = false, in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    let generation = try generation(of: partition, creating: false, in: &transaction)
    guard generation != 0 else { return }
    let key = DiskKey(generation: generation, key: fullKey.rawSpan)
    switch try onlyIfDamaged ? present(under: key, in: transaction) : departing(under: key, in: transaction) {
    case .record(let sequence, let size, let digested):
      // Another key's, of the same digest, stays.
      if onlyIfDamaged || digested.map({ $0 != fullKey }) ?? false { return }
      try drop(key, sequence: sequence, size: size, in: &transaction)
      outcome.removed(partition)
    case .damaged(let size):
      try removeOrder(under: key, in: &transaction)
      try drop(key, sequence: nil, size: size, in: &transaction)
      if onlyIfDamaged { outcome.damaged.append((partition, fullKey)) } else { outcome.removed(partition) }
    case nil: return
    }
  }

  /// Drops the oldest record, unless it was read since its last turn and `sparing`: then it goes to the tail, unmarked.
  /// Nil where there is none.
  mutating func evictOldest(
    sparing: Bool, in transaction: inout WriteTransaction
  ) throws(LMDBError) -> Eviction? {
    guard let (sequence, key) = try oldest(in: &transaction) else { return nil }
    guard let key, case .record(let number, let size, let digested) = try present(under: key, in: transaction),
      number == sequence
    else {
      // An entry that leads to no sound record of its own: left behind by damage.
      try dropDangling(sequence, key, in: &transaction)
      return .dropped(bytes: 0)
    }
    // What is invalidated is as good as gone: it is not spared, and nobody is told that it left.
    let isLive = try liveCounts(key.generation, in: transaction) != nil
    let evicted = isLive ? try evicted(key, digested, in: transaction) : nil
    let isProtected = protected.remove(sequence) != nil
    if isProtected || (sparing && evicted != nil && recency.isMarked(sequence)) {
      try moveToTail(key, from: sequence, in: &transaction)
      if isProtected { protected.insert(lastSequence) }
      outcome.touchedPages += 2 + StepOutcome.overflowPages(size)
      return .spared
    }
    try drop(key, sequence: sequence, size: size, in: &transaction)
    if let evicted { outcome.evicted.append(evicted) }
    return .dropped(bytes: StepOutcome.footprint(size: size, key: key.count))
  }

  /// Removes up to `count` records of a dead generation; answers about how many bytes of the file they took up, and
  /// whether the generation has none left, and is forgotten.
  mutating func purge(
    _ generation: UInt64, upTo count: Int, in transaction: inout WriteTransaction
  ) throws(LMDBError) -> (bytes: Int, isDone: Bool) {
    let start = DiskKey(startOf: generation)
    var bytes = 0
    for _ in 0..<count {
      guard let key = try first(from: start, in: &transaction), key.generation == generation else {
        if try transaction.remove(MetaTable.dead(generation), in: file.meta) { outcome.hasChanges = true }
        return (bytes, true)
      }
      switch try departing(under: key, in: transaction) {
      case .record(let sequence, let size, _):
        try drop(key, sequence: sequence, size: size, in: &transaction)
        bytes += StepOutcome.footprint(size: size, key: key.count)
      case .damaged(let size):
        try removeOrder(under: key, in: &transaction)
        try drop(key, sequence: nil, size: size, in: &transaction)
      case nil: break
      }
    }
    return (bytes, false)
  }

  // MARK: Generations

  /// Removes everything of the partition: its generation is dead from this commit on.
  mutating func removeAll(of partition: Partition, in transaction: inout WriteTransaction) throws(LMDBError) {
    let generation = try generation(of: partition, creating: false, in: &transaction)
    guard generation != 0 else { return }
    _ = try transaction.remove(MetaTable.partition(partition.name), in: file.meta)
    _ = try transaction.remove(MetaTable.live(generation), in: file.meta)
    try transaction.put(MetaTable.value(0), forKey: MetaTable.dead(generation), in: file.meta)
    counts[generation] = .some(nil)
    generations[ObjectIdentifier(partition)] = 0
    outcome.hasChanges = true
    outcome.hasDeadGenerations = true
  }

  /// The partition's generation; zero where it has none and `creating` is false.
  mutating func generation(
    of partition: Partition, creating: Bool, in transaction: inout WriteTransaction
  ) throws(LMDBError) -> UInt64 {
    let identity = ObjectIdentifier(partition)
    if let known = generations[identity], known != 0 || !creating { return known }
    let name = MetaTable.partition(partition.name)
    let present = try transaction.number(forKey: name, in: file.meta) ?? 0
    generations[identity] = present
    if present != 0 || !creating { return present }
    let generation = try transaction.number(forKey: MetaTable.next, in: file.meta) ?? 1
    guard generation < DiskKey.generationLimit else {
      throw LMDBError(.corrupted, operation: "begin a generation", message: "the next generation is \(generation)")
    }
    try transaction.put(MetaTable.value(generation + 1), forKey: MetaTable.next, in: file.meta)
    try transaction.put(MetaTable.value(generation), forKey: name, in: file.meta)
    generations[identity] = generation
    counts[generation] = GenerationCounts()
    outcome.hasChanges = true
    return generation
  }

  /// Writes what is only written once; the last thing to be done.
  ///
  /// Counts that are as they were are left: values of one size often replace one another, and the row is a way of pages
  /// down to itself, each of them copied.
  mutating func finish(in transaction: inout WriteTransaction) throws(LMDBError) {
    for (generation, counts) in counts {
      guard let counts, counts != notedCounts[generation] else { continue }
      try transaction.put(counts.value, forKey: MetaTable.live(generation), in: file.meta)
      outcome.hasChanges = true
    }
  }

  /// The counts of a generation that was met; nil for others.
  func counts(of generation: UInt64) -> GenerationCounts? { counts[generation] ?? nil }
}
