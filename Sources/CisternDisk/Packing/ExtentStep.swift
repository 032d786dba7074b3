import CisternCore
import LMDB

/// The work of one write transaction on records in extents.
///
/// The step takes the state of the file, and returns the new one after the commit, or the former one after an abort.
/// Each method can throw. The transaction must then abort, because a part of the changes is done.
struct ExtentStep: ~Copyable {
  /// The facts that do not change during a transaction.
  struct Context {
    let limits: ExtentLimits
    let recency: RecencyBitmap
    /// The invalidation tables that have invalidations in force, by the generation of their partition.
    var invalidated: [Generation: InvalidationTable] = [:]
    /// Whether the transaction must not write to a page with committed records, because its commit is durable.
    var avoidsSharedPages = false

    init(limits: ExtentLimits, recency: RecencyBitmap) {
      self.limits = limits
      self.recency = recency
    }
  }

  let context: Context
  let horizon: TransactionHorizon
  var state: ExtentState
  /// The state at the beginning, without the extents, whose log undoes its changes itself.
  private let former:
    (
      separates: SeparateRecords, reclaim: Reclaim?, victim: VictimList?, clearing: WindowClearing?,
      partitionNumbers: PartitionNumbers
    )
  private let formerExperience: WriterExperience
  var writer: ExtentWriter
  /// The extents that received records in this transaction. It does not reclaim them.
  var appended: Set<ExtentNumber> = []
  /// The separate records of this transaction. It does not evict them.
  var appendedSeparates: Set<SeparateNumber> = []
  /// The counts of each generation that the step has read. The value is nil for a dead generation.
  var counts: [Generation: GenerationCounts?] = [:]
  /// The counts in the file, for each live generation that the step has read.
  private var notedCounts: [Generation: GenerationCounts] = [:]
  var touched: TouchedLeaves
  /// Whether the file can still grow by many extents at its end. Nil until the step asks.
  var canGrowAtEnd: Bool?
  /// Whether any record of the file has a renewal. Nil until the step asks.
  var hasRenewals: Bool?
  /// The generations that the step has added items to, or removed items from.
  private var changedItems: Set<Generation> = []
  /// The number of pages of extents and separate records that the transaction has freed.
  var freedPages = 0
  /// Whether the transaction has made room for a batch, and must not use it for copies.
  var hasBatchRoom = false
  /// The position in the commit order before which the items are put.
  var position = 0
  /// Whether the rows of all extents get their live bytes, also if no other change needs the rows.
  var writesLiveBytes = false
  var outcome = ExtentOutcome()

  /// Begins the work of a transaction. Takes the state, so that its changes copy nothing.
  init(
    _ state: inout ExtentState?, _ context: Context, during horizon: TransactionHorizon,
    in target: borrowing some ExtentTarget & ~Copyable & ~Escapable
  ) throws(LMDBError) {
    guard let taken = state, taken.isCurrent(in: horizon) else {
      preconditionFailure("the writer reads the state of the file before it changes it")
    }
    var itemPages = taken.itemPages
    try itemPages.read(in: target)
    let usage = try Self.pageUsage(taken, itemPages, limits: context.limits, in: target)
    touched = TouchedLeaves(indexPages: usage.index)
    self.context = context
    self.horizon = horizon
    state = nil
    self.state = taken
    self.state.itemPages = itemPages
    former = (taken.separates, taken.reclaim, taken.victim, taken.clearing, taken.partitionNumbers)
    formerExperience = taken.experience
    writer = ExtentWriter(layout: context.limits.layout, pageSize: context.limits.pageSize)
    self.state.log.begin(pageSize: context.limits.pageSize, avoidsSharedPages: context.avoidsSharedPages)
  }

  var layout: ExtentLayout { context.limits.layout }

  /// Returns the pages that the file uses besides those of its extents. O(1).
  func pageUsage(in target: borrowing some ExtentTarget & ~Copyable & ~Escapable) throws(LMDBError) -> PageUsage {
    try Self.pageUsage(state, state.itemPages, limits: context.limits, in: target)
  }

  private static func pageUsage(
    _ state: ExtentState, _ itemPages: ItemPages, limits: ExtentLimits,
    in target: borrowing some ExtentTarget & ~Copyable & ~Escapable
  ) throws(LMDBError) -> PageUsage {
    let tables = try target.tablePages()
    let separates = tables.values - state.log.count * limits.pagesPerExtent
    return PageUsage(
      index: tables.index + itemPages.count(with: tables, pageSize: limits.pageSize),
      others: tables.others + max(separates, 0))
  }

  // MARK: Records

  /// Writes the record, unless it has no room in this transaction. Returns whether it is written.
  ///
  /// Without room, the caller commits and tries again: later transactions have the room that this one has made. The
  /// transaction never evicts the records that it has put, so a batch is whole or fails.
  mutating func put(
    _ draft: RecordDraft, of generation: Generation,
    in target: inout some ExtentTarget & ~Copyable & ~Escapable
  ) throws(LMDBError) -> Bool {
    _ = try liveCounts(generation, in: target)
    guard let partitionNumber = try partitionNumber(of: generation, in: &target) else { return false }
    let size = draft.packedSize
    guard try makeRoom(for: size, in: &target) else {
      // Only a transaction with changes brings the extents that were emptied closer to their reuse.
      outcome.hasChanges = true
      return false
    }
    let digest = RecordDigest(of: draft.key.rawSpan)
    let old = try find(draft.key.rawSpan, digest, of: generation, in: &target)
    let address: RecordAddress
    if size > layout.largestRecord {
      address = try putSeparate(draft, of: partitionNumber, in: &target)
    } else {
      guard let place = state.log.place(size, in: .writes, during: horizon) else { return false }
      noteAppended(place)
      try writer.append(ExtentLayout.room(for: size), at: place, in: .writes, to: &target) {
        draft.pack(for: partitionNumber, at: place, into: &$0)
      }
      address = place
    }
    // A value that was read keeps its mark when it is replaced. Small records can share a mark, so it is read first.
    let isUsed = old.map { context.recency.isMarked($0.address.mark) } ?? false
    if isUsed { context.recency.mark(address.mark) } else { context.recency.clear(address.mark) }
    if let old {
      try target.replaceCurrent(with: address)
      try discard(old, in: &target)
    } else {
      try target.insert(LocatedDigest(digest: digest, address: address), of: generation)
    }
    change(generation, records: old == nil ? 1 : 0, bytes: size - (old?.size ?? 0))
    touched.note(digest, of: generation)
    outcome.hasChanges = true
    return true
  }

  /// Returns whether the condition holds for the key's record. False if the key has none. `admitsDamage` is the result
  /// for a damaged record.
  mutating func allows(
    _ condition: RecordCondition, orIfDamaged admitsDamage: Bool, for key: [UInt8], of generation: Generation,
    in target: inout some ExtentTarget & ~Copyable & ~Escapable
  ) throws(LMDBError) -> Bool {
    guard let found = try find(key.rawSpan, RecordDigest(of: key.rawSpan), of: generation, in: &target) else {
      return false
    }
    let renewal = try renewal(of: found, in: target)
    return try withRecord(at: found.address, in: target) { record in
      guard let header = PackedHeader(record, at: found.address) else { return admitsDamage }
      var metadata = header.metadata(of: record)
      renewal?.apply(to: &metadata)
      return condition.allows(for: metadata, record.extracting(header.value))
    } ?? false
  }

  /// Returns the schema version of the key's record. Nil if the key has no sound record.
  mutating func schemaVersion(
    ofRecord key: [UInt8], of generation: Generation,
    in target: inout some ExtentTarget & ~Copyable & ~Escapable
  ) throws(LMDBError) -> UInt32? {
    guard let found = try find(key.rawSpan, RecordDigest(of: key.rawSpan), of: generation, in: &target) else {
      return nil
    }
    return try withRecord(at: found.address, in: target) { record -> UInt32? in
      guard let header = PackedHeader(record, at: found.address) else { return nil }
      return header.metadata(of: record).schemaVersion
    } ?? nil
  }

  // MARK: Ends

  /// Writes the records, and the rows that changed. It must be the last change of the transaction.
  ///
  /// - Parameters:
  ///   - withLiveBytes: Whether to write also the rows of extents of which only the live bytes changed.
  ///   - target: The transaction.
  /// - Throws: `LMDBError` if LMDB fails.
  mutating func finish(
    withLiveBytes: Bool, in target: inout some ExtentTarget & ~Copyable & ~Escapable
  ) throws(LMDBError) {
    guard outcome.hasChanges else { return }
    try writer.flush(to: &target)
    for (number, extent) in state.log.takeChangedRows(withLiveBytes: withLiveBytes) {
      let key = ExtentRow.Key(number)
      try target.putRow(extent.map { ExtentRow.extent($0).bytes(under: key) }, under: key)
    }
    try target.putLogRow(LogRow(state.log, nextSeparate: state.separates.next, reclaim: state.reclaim).bytes)
    for (generation, counts) in counts {
      guard let counts, counts != notedCounts[generation] else { continue }
      try target.putCounts(counts, of: generation)
    }
  }

  /// Returns the state after the commit.
  consuming func committed() -> ExtentState {
    state.log.commit()
    state.itemPages.noteChanges(of: changedItems)
    state.newSeparates.note(appendedSeparates)
    state.experience.freedPages.note(freedPages, during: horizon)
    if outcome.hasChanges { state.committed = horizon.current }
    return state
  }

  /// Returns the state after an abort: that at the beginning.
  consuming func aborted() -> ExtentState {
    state.log.abort()
    (state.separates, state.reclaim, state.victim, state.clearing, state.partitionNumbers) = former
    state.experience = formerExperience
    return state
  }

  // MARK: Generations

  /// Returns the counts of the generation, or nil if the generation is dead.
  mutating func liveCounts(
    _ generation: Generation, in target: borrowing some ExtentTarget & ~Copyable & ~Escapable
  ) throws(LMDBError) -> GenerationCounts? {
    if let known = counts[generation] { return known }
    let read = try target.counts(of: generation)
    counts[generation] = .some(read)
    notedCounts[generation] = read
    return read
  }

  /// Adds to the counts of a live generation, which must have been read.
  mutating func change(_ generation: Generation, records: Int, bytes: Int) {
    if records != 0 { changedItems.insert(generation) }
    guard var current = counts[generation] ?? nil else { return }
    current.records += records
    // A damaged record can state a size that was never counted.
    current.bytes = max(current.bytes + bytes, 0)
    counts[generation] = current
  }

  /// Notes that the generation begins in this transaction, without records.
  mutating func noteNew(_ generation: Generation) {
    counts[generation] = GenerationCounts()
    outcome.hasChanges = true
  }

  /// Notes that the generation has become dead in this transaction.
  mutating func noteDead(_ generation: Generation) {
    counts[generation] = .some(nil)
    outcome.hasChanges = true
  }

  /// Returns the number by which records refer to the generation. Nil if all numbers are in use.
  private mutating func partitionNumber(
    of generation: Generation, in target: inout some ExtentTarget & ~Copyable & ~Escapable
  ) throws(LMDBError) -> PartitionNumber? {
    if let known = state.partitionNumbers.number(of: generation) { return known }
    guard let number = state.partitionNumbers.add(generation) else { return nil }
    try target.putPartitionNumber(number, of: generation)
    outcome.hasChanges = true
    return number
  }

  mutating func noteAppended(_ address: RecordAddress) {
    if case .inExtent(let number, _)? = address.location(in: layout) { appended.insert(number) }
  }
}
