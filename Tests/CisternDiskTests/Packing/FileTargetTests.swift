import CisternTesting
import CisternTestSupport
import LMDB
import Testing
import TestDirectories

@testable import CisternCore
@testable import CisternDisk

/// Transactions on extents in a file of LMDB.
struct FileTargetTests {
  private let directory = TemporaryDirectory()
  private let limits: ExtentLimits
  private let recency = RecencyBitmap(capacity: 1 << 16)

  init() {
    let mapSize = 2 << 20
    limits = ExtentLimits(layout: ExtentLayout(mapSize: mapSize), pageCount: mapSize / 4096, pageSize: 4096)
  }

  private func open() throws -> FileTables {
    let options = EnvironmentOptions(mapSize: limits.pageCount * limits.pageSize, durability: .noSync)
    return try FileTables(Environment.open(directory: directory.path, options: options), limits: limits)
  }

  /// Runs a transaction. Aborts it if the body throws.
  private func transaction(
    _ state: inout ExtentState?, _ tables: FileTables,
    _ body: (inout ExtentStep, inout FileTarget) throws(LMDBError) -> Void
  ) throws {
    var ended: ExtentState?
    defer { state = ended }
    let context = ExtentStep.Context(limits: limits, recency: recency)
    try tables.environment.withWrite { (transaction) throws(LMDBError) in
      let last = try tables.environment.information().lastTransaction
      let horizon = TransactionHorizon(
        current: TransactionNumber(number: last + 1),
        oldestSnapshot: try transaction.oldestSnapshot().map { TransactionNumber(number: $0) })
      var target = FileTarget(transaction, tables)
      do throws(LMDBError) {
        var step = try ExtentStep(&state, context, during: horizon, in: target)
        do throws(LMDBError) {
          try body(&step, &target)
          try step.finish(withLiveBytes: true, in: &target)
          ended = step.committed()
        } catch {
          ended = step.aborted()
          throw error
        }
        transaction = target.end()
      } catch {
        transaction = target.end()
        throw error
      }
    }
  }

  /// Reads the state from the rows of the file.
  private func read(_ tables: FileTables) throws -> ExtentState {
    var rows = ExtentState.Rows(log: [])
    try tables.environment.withRead { (transaction) throws(LMDBError) in
      rows.log = try transaction.row(forKey: FileTables.logKey, in: tables.meta) ?? []
      var cursor = try transaction.cursor(in: tables.rows)
      var isAtRow = try cursor.moveToFirst()
      while isAtRow, let key = cursor.key {
        rows.extents[UInt64(key)] = cursor.value?.copiedBytes()
        isAtRow = try cursor.moveToNext()
      }
      let name = PartitionNumber(number: 0)
      rows.names[name] = try transaction.generation(forKey: FileTables.name(name), in: tables.meta)
    }
    let last = try tables.environment.information().lastTransaction
    return try ExtentState(rows, committed: TransactionNumber(number: last))
  }

  /// Returns the keys and values of all records, as a reader finds them.
  private func contents(_ tables: FileTables) throws -> [[UInt8]: [UInt8]] {
    var found: [[UInt8]: [UInt8]] = [:]
    try tables.environment.withRead { (transaction) throws(LMDBError) in
      var cursor = try transaction.cursor(in: tables.index)
      var isAtItem = try cursor.moveToFirst()
      while isAtItem, let key = cursor.key?.copiedBytes(), let item = LocatedDigest(key.rawSpan.extracting(6..<18)) {
        let (value, offset): (UInt, Int) =
          switch item.address.place(in: limits.layout) {
          case .inExtent(let number, let offset)?: (UInt(number.number), offset - ExtentLayout.headerSize)
          case .separate(let number)?: (UInt(ExtentRow.Key(SeparateNumber(number: number)).number), 0)
          case nil: (.max, 0)
          }
        if let bytes = try transaction.value(forKey: value, in: tables.extents) {
          let record = bytes.extracting(offset..<bytes.byteCount)
          if let header = PackedHeader(record, at: item.address) {
            found[record.extracting(header.key).copiedBytes()] = record.extracting(header.value).copiedBytes()
          }
        }
        isAtItem = try cursor.moveToNext()
      }
    }
    return found
  }

  /// Lets two commits pass and makes the map less full, as the writer does after LMDB found the map full.
  private func makeRoom(
    _ state: inout ExtentState?, _ tables: FileTables, _ expected: inout [[UInt8]: [UInt8]]
  ) throws {
    for _ in 0..<2 { try transaction(&state, tables) { step, _ in step.outcome.hasChanges = true } }
    var evicted: [EvictedRecord] = []
    try transaction(&state, tables) { (step, target) throws(LMDBError) in
      _ = try step.relieve(in: &target)
      evicted = step.outcome.evicted
    }
    for record in evicted { expected[record.key] = nil }
  }

  @Test func `records are found after random writes and aborts, and after the file is opened again`() throws {
    var generator = SeededGenerator(seed: 5)
    var tables = try open()
    try tables.environment.withWrite { (transaction) throws(LMDBError) in
      try transaction.put(GenerationCounts().value, forKey: MetaTable.live(.first), in: tables.meta)
    }
    let last = try tables.environment.information().lastTransaction
    var state: ExtentState? = ExtentState(layout: limits.layout, committed: TransactionNumber(number: last))
    var expected: [[UInt8]: [UInt8]] = [:]
    var evictions = 0
    var fullMaps = 0
    for round in 0..<400 {
      var pending = expected
      let fails = round % 7 == 6
      do {
        try transaction(&state, tables) { (step, target) throws(LMDBError) in
          for _ in 0..<Int.random(in: 1...30, using: &generator) {
            let number = Int.random(in: 0..<3000, using: &generator)
            let key = value(number, size: 4 + number % 60)
            if number % 9 == 0 {
              try step.remove(key, of: .first, in: &target)
              pending[key] = nil
              continue
            }
            let size = number % 50 == 0 ? Int.random(in: 5000...20_000, using: &generator) : number % 2000
            let bytes = value(round, size: size)
            let metadata = RecordMetadata(created: WallTime(nanosecondsSince1970: 1), cost: UInt32(max(size, 1)))
            let draft = RecordDraft(key: key, metadata: metadata, bytes: bytes)
            let isPut = try step.put(draft, of: .first, in: &target)
            for record in step.outcome.evicted { pending[record.key] = nil }
            evictions += step.outcome.evicted.count
            step.outcome.evicted = []
            guard isPut else { return }
            pending[key] = bytes
            if step.shouldCommit { break }
          }
          if fails { throw LMDBError(.noSpace, operation: "test", message: "the test ends the transaction") }
        }
        expected = pending
      } catch let error as LMDBError {
        if error.code == .mapFull {
          fullMaps += 1
          try makeRoom(&state, tables, &expected)
        } else {
          try #require(fails, "\(error)")
        }
      }
      guard round % 40 == 39 else { continue }
      #expect(try contents(tables) == expected)
      try tables.environment.close()
      tables = try open()
      let known = state
      let read = try read(tables)
      #expect(known.map { $0.log.all.elementsEqual(read.log.all, by: ==) } == true)
      #expect(known?.separates == read.separates && known?.reclaim == read.reclaim && known?.names == read.names)
      state = read
    }
    #expect(evictions > 0)
    // Separate records divide the free pages, so that LMDB finds the map full now and then.
    #expect(fullMaps < 20)
    try tables.environment.close()
  }
}
