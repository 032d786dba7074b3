import CisternTesting
import CisternTestSupport
import LMDB
import Testing
import TestDirectories

@testable import CisternCore
@testable import CisternDisk

/// Transactions on extents in a file of LMDB.
struct ExtentTransactionTests: ExtentFileFixture {
  let directory = TemporaryDirectory()
  let recency = RecencyBitmap(capacity: 1 << 16)

  /// Returns the values of these keys as a reader finds them. Fails if the index has other items.
  private func contents(_ file: ExtentFile, of keys: some Sequence<[UInt8]>) throws -> [[UInt8]: [UInt8]] {
    let tables = file.tables
    return try file.environment.withRead { (transaction) throws(LMDBError) in
      var found: [[UInt8]: [UInt8]] = [:]
      for key in keys {
        var value: [UInt8]?
        _ = try transaction.firstAddress(
          of: RecordDigest(of: key.rawSpan).bits, forKey: IndexKey(Generation.first.number), in: tables.index
        ) { (bits) throws(LMDBError) in
          let (table, offset): (UInt, Int) =
            switch RecordAddress(bits: bits)?.location(in: tables.limits.layout) {
            case .inExtent(let number, let offset)?: (UInt(number.number), offset - ExtentLayout.headerSize)
            case .separate(let number)?: (UInt(ExtentRow.Key(SeparateNumber(number: number)).number), 0)
            case nil: (.max, 0)
            }
          guard let bytes = try transaction.value(forKey: table, in: tables.extents) else { return false }
          let record = bytes.extracting(offset..<bytes.byteCount)
          guard let header = RecordAddress(bits: bits).flatMap({ PackedHeader(record, at: $0) }),
            record.extracting(header.key).hasSameBytes(as: key.rawSpan)
          else { return false }
          value = record.extracting(header.value).copiedBytes()
          return true
        }
        found[key] = value
      }
      #expect(try transaction.itemCount(in: tables.index) == found.count)
      return found
    }
  }

  /// Expects that the usage is the number of pages that LMDB has not listed as free.
  private func checkUsage(_ state: inout ExtentState?, _ file: ExtentFile) throws {
    let free = try file.environment.freePageCount()
    let pages = try file.environment.information().pageCount
    try transaction(&state, file) { (step, target) throws(LMDBError) in
      let usage = try step.pageUsage(in: target)
      #expect(usage.index + usage.others + step.state.log.count * step.context.limits.pagesPerExtent == pages - free)
      // The trees of items, besides the leaf with their records.
      #expect(try usage.index > target.tablePages().index)
    }
  }

  /// Lets two commits pass and makes the map less full, as the writer does after LMDB found the map full.
  private func makeRoom(
    _ state: inout ExtentState?, _ file: ExtentFile, _ expected: inout [[UInt8]: [UInt8]]
  ) throws {
    for _ in 0..<2 { try transaction(&state, file) { step, _ in step.outcome.hasChanges = true } }
    var evicted: [EvictedRecord] = []
    try transaction(&state, file) { (step, target) throws(LMDBError) in
      _ = try step.freeSpace(in: &target)
      evicted = step.outcome.evicted
    }
    for record in evicted { expected[record.key] = nil }
  }

  @Test func `records are found after random writes and aborts, and after the file is opened again`() throws {
    var generator = SeededGenerator(seed: 5)
    var file = try create()
    var state: ExtentState?
    var expected: [[UInt8]: [UInt8]] = [:]
    var evictions = 0
    var fullMaps = 0
    for round in 0..<400 {
      var pending = expected
      let fails = round % 7 == 6
      do {
        try transaction(&state, file) { (step, target) throws(LMDBError) in
          for _ in 0..<Int.random(in: 1...30, using: &generator) {
            let number = Int.random(in: 0..<3000, using: &generator)
            let key = value(number, size: 4 + number % 60)
            if number % 9 == 0 {
              _ = try step.remove(key, of: .first, in: &target)
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
            if !step.hasBudget { break }
          }
          if fails { throw LMDBError(.noSpace, operation: "test", message: "the test ends the transaction") }
        }
        expected = pending
      } catch let error as LMDBError {
        if error.code == .mapFull {
          fullMaps += 1
          try makeRoom(&state, file, &expected)
        } else {
          try #require(fails, "\(error)")
        }
      }
      guard round % 40 == 39 else { continue }
      let keys = (0..<3000).map { value($0, size: 4 + $0 % 60) }
      #expect(try contents(file, of: keys) == expected)
      try checkUsage(&state, file)
      try file.environment.close()
      file = try open()
      let known = state
      let read = try read(file)
      #expect(known.map { $0.log.all.elementsEqual(read.log.all, by: ==) } == true)
      #expect(
        known?.separates == read.separates && known?.reclaim == read.reclaim
          && known?.partitionNumbers == read.partitionNumbers)
      #expect(known?.committed == read.committed)
      state = nil
    }
    #expect(evictions > 0)
    // Separate records divide the free pages, so that LMDB finds the map full now and then.
    #expect(fullMaps < 20)
    try file.environment.close()
  }

  @Test func `a file has the layout of its first opening, and all names of generations`() throws {
    let file = try create()
    var state: ExtentState?
    let generations = (1...300).map { Generation(number: $0 * 7) }
    for part in stride(from: 0, to: 300, by: 30) {
      try transaction(&state, file) { (step, target) throws(LMDBError) in
        for generation in generations[part..<part + 30] {
          try target.putCounts(GenerationCounts(), of: generation)
          let draft = RecordDraft(
            key: value(1, size: 8), metadata: RecordMetadata(created: WallTime(nanosecondsSince1970: 1), cost: 8),
            bytes: value(2, size: 8))
          _ = try step.put(draft, of: generation, in: &target)
        }
      }
    }
    let names = try #require(state?.partitionNumbers)
    #expect(Set(names.named).count > 200)
    #expect(try read(file).partitionNumbers == names)
    try file.environment.close()
    let options = EnvironmentOptions(mapSize: 64 << 20, durability: .noSync)
    let larger = try Environment.open(directory: directory.path, options: options)
    let tables = try DenseTables(larger, meta: try larger.openDatabase(named: DiskFile.metaName))
    #expect(tables.limits.layout == file.tables.limits.layout && tables.limits.pageCount == 64 << 20 / 4096)
    try larger.close()
  }
}
