import CisternTestSupport
import CisternTesting
import LMDB
import Testing

@testable import CisternCore
@testable import CisternDisk

/// The live bytes of extents in the rows of the file, over closes and beside other processes.
@Suite struct LiveBytesTests {
  private let scratch = TemporaryDirectory()
  private let delivered = DeliveredReports()

  private func open(_ limit: ByteCount) throws -> DiskTier {
    try openTier(scratch, limit: limit, layout: .dense, delivered: delivered, interval: .unreachable)
  }

  /// Overwrites random keys of the cache, in commits of 50.
  private func overwrite(
    _ count: Int, of keys: Int, in tier: DiskTier, from generator: inout SeededGenerator
  ) async throws {
    let cache = try tier.cache(delivered: delivered)
    for number in 1...count {
      cache.put("k\(Int.random(in: 0..<keys, using: &generator))", value(number, size: 1000))
      if number % 50 == 0 { try await tier.flush() }
    }
  }

  @Test func `a file that is mostly dead loses no live value over many short openings`() async throws {
    var generator = SeededGenerator(seed: 1)
    var tier = try open(.mebibytes(4))
    let cache = try tier.cache(delivered: delivered)
    for key in 0..<1000 { cache.put("k\(key)", value(key, size: 1000)) }
    try await tier.close()
    for _ in 0..<60 {
      tier = try open(.mebibytes(4))
      try await overwrite(150, of: 1000, in: tier, from: &generator)
      try await tier.close()
    }
    tier = try open(.mebibytes(4))
    #expect(try tier.cache().keys().count == 1000)
    #expect(delivered.lost(.evicted) == [])
    #expect(delivered.reportCodes == [])
    let file = try #require(tier.engine.file)
    #expect(try LiveBytes(of: file).areExact)
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test func `the last commit before the process exits writes the live bytes`() async throws {
    var generator = SeededGenerator(seed: 2)
    let tier = try open(.mebibytes(1))
    let (engine, cache) = (tier.engine, try tier.cache())
    for key in 0..<200 { cache.put("k\(key)", value(key, size: 1000)) }
    try await overwrite(150, of: 200, in: tier, from: &generator)
    let file = try #require(engine.file)
    #expect(try !LiveBytes(of: file).areExact)
    // The exit handler of the process does this.
    engine.exitPhase = .asked
    engine.monitor.change { $0.isCommitRequested = true }
    while engine.exitPhase != .done { await Task.yield() }
    #expect(try LiveBytes(of: file).areExact)
    try await tier.close()
  }

  @Test func `a close without other live bytes than the rows commits nothing`() async throws {
    let tier = try open(.mebibytes(1))
    let cache = try tier.cache()
    for key in 0..<200 { cache.put("k\(key)", value(key, size: 1000)) }
    try await tier.flush()
    let file = try #require(tier.engine.file)
    let last = try file.environment.lastTransaction()
    try await tier.close()
    let reopened = try open(.mebibytes(1))
    let found = try #require(reopened.engine.file)
    #expect(try found.environment.lastTransaction() == last)
    try await reopened.close()
  }

  // MARK: Processes

  /// The writers of two processes with one file, each with the state that it has read.
  private struct Writers {
    let file: DiskFile
    private let partition = Partition(name: "things")
    private var states: [ExtentState?] = [nil, nil]
    private var generator = SeededGenerator(seed: 3)

    init(_ file: DiskFile) { self.file = file }

    /// Overwrites random keys in one commit.
    mutating func write(_ count: Int, by process: Int) throws {
      let drafts = (0..<count).map { _ in
        let key = Int.random(in: 0..<300, using: &generator)
        return RecordDraft(
          key: bytes("k\(key)"), metadata: RecordMetadata(created: WallTime(nanosecondsSince1970: 1), cost: 300),
          bytes: value(key, size: 300))
      }
      let partition = partition
      try file.withStep(StepContext(), &states[process]) { (step, transaction) throws(LMDBError) in
        for draft in drafts { _ = try step.put(draft, for: partition, in: &transaction) }
        try step.finish(in: &transaction)
      }
    }

    /// Ends the writer of a process as a close does.
    mutating func end(_ process: Int) throws {
      try file.withStep(StepContext(), &states[process]) { (step, transaction) throws(LMDBError) in
        step.records.writeLiveBytes()
        try step.finish(in: &transaction)
      }
    }

    mutating func random(in range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }
  }

  @Test func `the rows state the live bytes after each commit of two processes that take turns`() async throws {
    let tier = try open(.mebibytes(1))
    let file = try #require(tier.engine.file)
    var writers = Writers(file)
    var extentCount = 0
    for commit in 0..<60 {
      try writers.write(20, by: commit % 2)
      // Each process notices the other one at its second commit.
      guard commit > 2 else { continue }
      let found = try LiveBytes(of: file)
      #expect(found.areExact, "after commit \(commit)")
      extentCount = max(extentCount, found.stated.count)
    }
    #expect(extentCount > 5)
    try await tier.close()
  }

  @Test func `two processes that each commit several times in a row lose no removal`() async throws {
    let tier = try open(.mebibytes(1))
    let file = try #require(tier.engine.file)
    var writers = Writers(file)
    for turn in 0..<20 {
      for _ in 0..<writers.random(in: 1...5) { try writers.write(10, by: turn % 2) }
    }
    try writers.end(0)
    try writers.end(1)
    let found = try LiveBytes(of: file)
    #expect(found.areExact && found.stated.count > 5, "\(found)")
    try await tier.close()
  }
}
