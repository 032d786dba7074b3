import CisternTestSupport
import Foundation
import LMDB
import Testing

@testable import CisternCore
@testable import CisternDisk

/// Write transactions on a dense file, and the state that the writer keeps between them.
@Suite struct ExtentCommitTests {
  private let scratch = TemporaryDirectory()
  private let partition = Partition(name: "things")

  private struct Fault: Error {}

  private func open(_ durability: EnvironmentOptions.Durability = .noSync) throws -> DiskFile {
    try FileManager.default.createDirectory(atPath: scratch.store, withIntermediateDirectories: true)
    var options = DiskOpening(
      directory: scratch.store, options: DiskOptions(limit: .mebibytes(1), layout: .dense),
      limits: try DiskLimits(.mebibytes(1), location: "")
    ).environmentOptions()
    options.durability = durability
    return try DiskFile.open(directory: scratch.store, options: options, layout: .only(.dense))
  }

  private func draft(_ number: Int) -> RecordDraft {
    RecordDraft(
      key: bytes("k\(number)"), metadata: RecordMetadata(created: WallTime(nanosecondsSince1970: 1), cost: 300),
      bytes: value(number, size: 300))
  }

  /// Puts the records in one transaction. Tries again while none of them has room, which is normal in a new file.
  private func put(_ numbers: Range<Int>, in file: DiskFile, _ extents: inout ExtentState?) throws {
    for _ in 0..<8 {
      let isPut = try file.withStep(StepContext(), &extents) { (step, transaction) throws(LMDBError) in
        var isPut = true
        for number in numbers where isPut {
          isPut = try step.put(draft(number), for: partition, in: &transaction)
        }
        try step.finish(in: &transaction)
        return isPut
      }
      if isPut { return }
    }
    Issue.record("the records have no room")
  }

  private func tables(of file: DiskFile) throws -> DenseTables {
    guard case .dense(let tables) = file.layout else { throw Fault() }
    return tables
  }

  /// The addresses of all records, in the order of the file.
  private func addresses(in file: DiskFile) throws -> [RecordAddress] {
    let tables = try tables(of: file)
    let records = try AgedRecords(of: file, tables, bytes: .max, in: tables.limits.layout, largestRecord: .max)
    return records.entries.map(\.address)
  }

  private func lastTransaction(of file: DiskFile) throws -> UInt { try file.environment.information().lastTransaction }

  private func readState(of file: DiskFile) throws -> ExtentState {
    let tables = try tables(of: file)
    return try file.environment.withRead { (transaction) throws(LMDBError) in
      try ExtentState(reading: transaction, tables)
    }
  }

  @Test func `the state follows each commit, also one that changes only other rows`() throws {
    let file = try open()
    var extents: ExtentState?
    try put(0..<5, in: file, &extents)
    #expect(try extents?.committed.number == lastTransaction(of: file))
    try file.withStep(StepContext(), &extents) { (step, transaction) throws(LMDBError) in
      try step.removeAll(of: Partition(name: "another"), in: &transaction.transaction)
      try step.advanceTransaction(in: &transaction.transaction)
      try step.finish(in: &transaction)
    }
    #expect(try extents?.committed.number == lastTransaction(of: file))
    let read = try readState(of: file)
    #expect(extents.map { $0.log.open == read.log.open && $0.partitionNumbers == read.partitionNumbers } == true)
    try file.close()
  }

  @Test(arguments: [false, true])
  func `after an abort, the state is that of the last commit`(isFinished: Bool) throws {
    let file = try open()
    var extents: ExtentState?
    try put(0..<5, in: file, &extents)
    let former = try #require(extents)
    let count = try addresses(in: file).count
    #expect(throws: LMDBError.self) {
      try file.withStep(StepContext(), &extents) { (step, transaction) throws(LMDBError) in
        for number in 5..<30 { _ = try step.put(draft(number), for: partition, in: &transaction) }
        if isFinished { try step.finish(in: &transaction) }
        throw LMDBError(.noSpace, operation: "test", message: "the test ends the transaction")
      }
    }
    #expect(extents?.committed == former.committed)
    #expect(extents.map { $0.log.all.elementsEqual(former.log.all, by: ==) } == true)
    try put(100..<103, in: file, &extents)
    #expect(try addresses(in: file).count == count + 3)
    try file.close()
  }

  @Test func `the state is read again after another process has committed, and keeps its ceiling`() throws {
    let file = try open()
    var ours: ExtentState?
    var theirs: ExtentState?
    try put(0..<5, in: file, &ours)
    ours?.experience.ceiling.lower(to: 7)
    try put(5..<10, in: file, &theirs)
    try put(10..<15, in: file, &ours)
    #expect(try ours?.committed.number == lastTransaction(of: file) && ours?.experience.ceiling.extents == 7)
    try put(15..<20, in: file, &theirs)
    #expect(Set(try addresses(in: file)).count == 20)
    try file.close()
  }

  @Test func `the clearing of pages continues after another process has committed`() throws {
    let file = try open()
    var ours: ExtentState?
    var theirs: ExtentState?
    try put(0..<5, in: file, &ours)
    let window = OccupiedPages.Run(pages: 10..<20, content: .extent(ExtentNumber(number: 1)), cost: 0)
    let occupied = OccupiedPages(pageCount: 30, fileEnd: 30, runs: [window])
    let clearing = WindowClearing(OccupiedPages.Window(10..<20), of: occupied)
    ours?.clearing = clearing
    #expect(ours?.log.held == Set(clearing.extents))
    try put(5..<10, in: file, &theirs)
    try file.withStep(StepContext(), &ours) { (step, transaction) throws(LMDBError) in
      try step.finish(in: &transaction)
    }
    #expect(ours?.clearing == clearing && ours?.log.count == theirs?.log.count)
    #expect(ours?.log.held == Set(clearing.extents))
    // A commit group ends a clearing that an earlier one has left.
    ours?.noteGroup()
    #expect(ours?.clearing == nil && ours?.log.held == [])
    try file.close()
  }

  @Test(arguments: [EnvironmentOptions.Durability.noSync, .noMetaSync])
  func `commits that survive a power cut write to no page with committed records`(
    durability: EnvironmentOptions.Durability
  ) throws {
    let file = try open(durability)
    var extents: ExtentState?
    for number in 0..<6 { try put(number..<number + 1, in: file, &extents) }
    let layout = try tables(of: file).limits.layout
    let pages = try addresses(in: file).compactMap { address -> [Int]? in
      guard case .inExtent(let number, let offset)? = address.location(in: layout) else { return nil }
      return [Int(number.number), offset / 4096]
    }
    #expect(pages.count == 6)
    #expect((Set(pages).count == 6) == (durability == .noMetaSync))
    try file.close()
  }

  @Test func `records that a tag conceals are not rewritten, and its walk finds them, but not the newer ones`() throws {
    let file = try open()
    var extents: ExtentState?
    var generation = Generation.zero
    for number in 0..<40 {
      var metadata = RecordMetadata(created: WallTime(nanosecondsSince1970: 1), cost: 9, tags: ["red"])
      metadata.fileVersion = number % 4 == 0 ? 5 : 1
      let draft = RecordDraft(key: bytes("k\(number)"), metadata: metadata, bytes: value(number, size: 9))
      for _ in 0..<8 {
        let isPut = try file.withStep(StepContext(), &extents) { (step, transaction) throws(LMDBError) in
          generation = try step.generation(of: partition, creating: true, in: &transaction.transaction)
          let isPut = try step.records.put(draft, of: generation, protected: false, in: &transaction)
          try step.finish(in: &transaction)
          return isPut
        }
        if isPut { break }
      }
    }
    try file.withStep(StepContext(), &extents) { (step, transaction) throws(LMDBError) in
      try step.put([.tag("red"): 3], invalidationVersion: 3, of: partition, in: &transaction.transaction)
      try step.finish(in: &transaction)
    }
    #expect(try addresses(in: file).count == 10)
    var walk = PurgeWalk(of: partition, generation, in: .dense, targets: [.tag("red"): 3])
    var steps = 0
    while !walk.isDone {
      let found = try walk.next(7, in: file)
      #expect(found.digests.count <= 7 && found.keys.isEmpty)
      try file.withStep(StepContext(), &extents) { (step, transaction) throws(LMDBError) in
        try step.records.purge(found, of: generation, concealedBy: walk.set, in: &transaction)
        try step.finish(in: &transaction)
      }
      steps += 1
    }
    #expect(steps >= 30 / 7)
    let index = try tables(of: file).index
    let count = try file.environment.withRead { (transaction) throws(LMDBError) in
      try transaction.itemCount(in: index)
    }
    #expect(count == 10)
    try file.close()
  }

  @Test func `a rewritten file has the same records in the same order`() throws {
    let file = try open()
    var extents: ExtentState?
    for part in 0..<20 { try put(part * 40..<part * 40 + 40, in: file, &extents) }
    let former = try contents(of: file)
    let options = file.environment.options
    try FileManager.default.createDirectory(atPath: scratch("new"), withIntermediateDirectories: true)
    _ = try file.rewrite(into: scratch("new"), options: options, largestRecord: .max) { _ in }
    let new = try DiskFile.open(directory: scratch("new"), options: options, layout: .only(.dense))
    let rewritten = try contents(of: new)
    #expect(rewritten.count > 100 && rewritten == Array(former.suffix(rewritten.count)))
    #expect(new.identity == file.identity)
    let free = try readState(of: new).log.freeCount
    #expect(free > 0)
    try new.releaseFreeExtents()
    #expect(try readState(of: new).log.freeCount == 0)
    #expect(try contents(of: new) == rewritten)
    try new.close()
    try file.close()
  }

  /// The keys and values of the records that readers see, from the oldest on.
  private func contents(of file: DiskFile) throws -> [[[UInt8]]] {
    let tables = try tables(of: file)
    let addresses = try addresses(in: file)
    return try file.environment.withRead { (transaction) throws(LMDBError) in
      var found: [[[UInt8]]] = []
      for address in addresses {
        guard let record = try tables.bytes(at: address, in: transaction),
          let header = PackedHeader(record, at: address)
        else { continue }
        found.append([record.extracting(header.key).copiedBytes(), record.extracting(header.value).copiedBytes()])
      }
      return found
    }
  }
}
