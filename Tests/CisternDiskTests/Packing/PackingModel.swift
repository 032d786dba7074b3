import CisternTesting
import CisternTestSupport
import LMDB
import Testing

@testable import CisternCore
@testable import CisternDisk

/// Writers of a dense file, and a dictionary with the records that it must have.
struct PackingModel {
  struct Key: Hashable {
    let generation: Generation
    let key: [UInt8]
  }

  struct Value: Equatable {
    var metadata: RecordMetadata
    var bytes: [UInt8]
  }

  /// A record of the file.
  struct FoundRecord {
    let key: [UInt8]
    let value: Value
    let size: Int
    let room: Int
    let name: PartitionNumber
  }

  /// A reader in an earlier snapshot.
  struct Reader {
    let snapshot: TransactionNumber
    let tables: MemoryTarget.Tables
    let contents: [Key: Value]
  }

  let limits: ExtentLimits
  let recency: RecencyBitmap
  var target: MemoryTarget
  /// The state of each writer. A writer reads the rows if another one has committed since.
  var states: [ExtentState?]
  var writer = 0
  var contents: [Key: Value] = [:]
  /// The contents with the changes of the transaction in progress.
  var pending: [Key: Value] = [:]
  var readers: [Reader] = []
  var avoidsSharedPages = false
  var writesLiveBytes = true
  var invalidated: [Generation: InvalidationTable] = [:]
  /// The numbers of evicted and renewed records, of copied bytes and of transactions that failed.
  private(set) var evictions = 0
  private(set) var renewals = 0
  private(set) var copiedBytes = 0
  private(set) var failures = 0
  private(set) var damagedExtents = 0
  private var nextGeneration = Generation.first
  /// The number of pages in a row that the last record needs, if it is separate.
  private var wantedPages = 0
  /// The number of windows that were cleared after the map was full.
  private(set) var clearings = 0

  init(mapSize: Int, writers: Int = 1) {
    let layout = ExtentLayout(mapSize: mapSize)
    recency = RecencyBitmap(capacity: mapSize / RecencyBitmap.bytesPerMark)
    limits = ExtentLimits(layout: layout, pageCount: mapSize / 4096, pageSize: 4096)
    target = MemoryTarget(limits: limits)
    target.tables.logRow =
      LogRow(ExtentLog(layout: layout), nextSeparate: SeparateNumber(number: 0), reclaim: nil).bytes
    target.commit()
    states = Array(repeating: nil, count: writers)
  }

  // MARK: Transactions

  /// The failure of a test's own step.
  struct Abandoned: Error {}

  /// Runs a transaction of the writer. Returns whether it is committed.
  mutating func transaction(
    failingAfter changes: Int? = nil,
    _ body: (inout PackingModel, inout ExtentStep) throws(LMDBError) -> Void
  ) throws -> Bool {
    let current = TransactionNumber(number: target.number.number + 1)
    let horizon = TransactionHorizon(current: current, oldestSnapshot: readers.map(\.snapshot).min())
    var state = states[writer]
    states[writer] = nil
    if state?.isCurrent(in: horizon) != true { state = try ExtentState(target.rows, committed: target.number) }
    var context = ExtentStep.Context(limits: limits, recency: recency)
    context.avoidsSharedPages = avoidsSharedPages
    context.invalidated = invalidated
    pending = contents
    target.changesUntilFailure = changes
    var step = try ExtentStep(&state, context, during: horizon, in: target)
    do {
      try body(&self, &step)
      try step.finish(withLiveBytes: writesLiveBytes, in: &target)
    } catch {
      target.abort()
      states[writer] = step.aborted()
      failures += 1
      if error.code == .mapFull { try freeSpace() }
      return false
    }
    copiedBytes += step.outcome.copiedBytes
    damagedExtents += step.outcome.damagedExtents.count
    target.commit()
    states[writer] = step.committed()
    contents = pending
    return true
  }

  /// Lets two commits pass and makes the map less full, as the writer does after LMDB found the map full.
  private mutating func freeSpace() throws {
    for _ in 0..<2 { try #require(try transaction { _, step in step.outcome.hasChanges = true }) }
    if target.tables.places != nil, wantedPages > limits.pagesPerExtent, try clearWindow() { return }
    _ = try transaction { (model, step) throws(LMDBError) in
      _ = try step.freeSpace(in: &model.target)
      model.noteEvictions(&step)
    }
  }

  private mutating func clearWindow() throws -> Bool {
    for _ in 0..<100 {
      var progress = WindowClearing.Progress.impossible
      let isCommitted = try transaction { (model, step) throws(LMDBError) in
        step.outcome.hasChanges = true
        progress = try step.clearWindow(of: model.wantedPages, in: &model.target)
        model.noteEvictions(&step)
      }
      guard isCommitted else { return false }
      switch progress {
      case .unfinished: continue
      case .impossible: return false
      case .finished:
        clearings += 1
        for _ in 0..<2 { try #require(try transaction { _, step in step.outcome.hasChanges = true }) }
        return true
      }
    }
    return false
  }

  /// Removes the evicted records from the expected contents.
  mutating func noteEvictions(_ step: inout ExtentStep) {
    for record in step.outcome.evicted {
      evictions += 1
      #expect(pending.removeValue(forKey: Key(generation: record.generation, key: record.key)) != nil)
    }
    step.outcome.evicted = []
  }

  // MARK: Operations within a transaction

  mutating func put(_ key: Key, _ value: Value, _ step: inout ExtentStep) throws(LMDBError) -> Bool {
    let draft = RecordDraft(key: key.key, metadata: value.metadata, bytes: value.bytes)
    let size = draft.packedSize
    wantedPages = size > limits.layout.largestRecord ? limits.pages(ofSeparate: size) : 0
    let endsClearing =
      wantedPages > limits.pagesPerExtent && !step.hasBatchRoom && step.appendedSeparates.isEmpty
    let isPut = try step.put(draft, of: key.generation, in: &target)
    noteEvictions(&step)
    if isPut { pending[key] = value }
    #expect(!isPut || !endsClearing || step.state.clearing == nil, "a record has room, and a clearing holds extents")
    return isPut
  }

  /// Gives the key's record the times of a value. Only the record of a large value has a renewal.
  mutating func renew(_ key: Key, _ value: Value, _ step: inout ExtentStep) throws(LMDBError) {
    let draft = RecordDraft(key: key.key, metadata: value.metadata, bytes: value.bytes)
    let isRenewed = try step.renew(draft, of: key.generation, in: &target)
    #expect(isRenewed == (pending[key]?.bytes == value.bytes && value.bytes.count >= RecordRenewal.leastValueSize))
    if isRenewed {
      pending[key] = value
      renewals += 1
    }
  }

  mutating func remove(_ key: Key, _ step: inout ExtentStep) throws(LMDBError) {
    let removal = try step.remove(key.key, of: key.generation, in: &target)
    let wasPresent = pending.removeValue(forKey: key) != nil
    #expect((removal != nil) == wasPresent)
  }

  /// Begins a generation, as the transaction that first stores a record of a partition does.
  mutating func beginGeneration() -> Generation {
    defer { nextGeneration = nextGeneration.next() }
    target.tables.counts[nextGeneration] = GenerationCounts()
    return nextGeneration
  }

  /// Ends a generation. Its records stay in the file until they are purged.
  mutating func endGeneration(_ generation: Generation, _ step: inout ExtentStep) {
    target.tables.counts[generation] = nil
    target.tables.dead.insert(generation)
    step.noteDead(generation)
    pending = pending.filter { $0.key.generation != generation }
  }

  // MARK: Readers

  mutating func beginReading() {
    readers.append(Reader(snapshot: target.number, tables: target.committed, contents: contents))
  }

  /// Returns the value that a reader of these tables finds under a key.
  func value(_ key: Key, in tables: MemoryTarget.Tables) throws -> Value? {
    let digest = RecordDigest(of: key.key.rawSpan)
    for item in tables.index[key.generation] ?? [] where item.digest == digest {
      if let found = try record(at: item.address, in: tables), found.key == key.key { return found.value }
    }
    return nil
  }

  /// Returns the sound record at an address.
  func record(
    at address: RecordAddress, in tables: MemoryTarget.Tables
  ) throws -> FoundRecord? {
    func decode(_ record: RawSpan) -> FoundRecord? {
      guard let header = PackedHeader(record, at: address) else { return nil }
      var metadata = header.metadata(of: record)
      tables.renewals[address]?.apply(to: &metadata)
      let value = Value(metadata: metadata, bytes: record.extracting(header.value).copiedBytes())
      return FoundRecord(
        key: record.extracting(header.key).copiedBytes(), value: value, size: header.size, room: header.room,
        name: header.partition)
    }
    guard tables.has(address, in: limits.layout) else { return nil }
    switch address.location(in: limits.layout) {
    case .inExtent(let number, let offset)?: return try target.values.withBytes(of: number, from: offset, decode) ?? nil
    case .separate(let number)?: return tables.separates[SeparateNumber(number: number)].flatMap { decode($0.rawSpan) }
    case nil: return nil
    }
  }
}
