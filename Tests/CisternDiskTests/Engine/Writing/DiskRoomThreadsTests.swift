import CisternTestSupport
import CisternTesting
import Testing

@testable import CisternCore
@testable import CisternDisk

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A small file whose pages are held by readers that end.
///
/// The tests run one after another, because their readers together would take the processors from all other tests.
@Suite(.serialized) struct DiskRoomThreadsTests {
  private static func open(
    _ scratch: TemporaryDirectory, limit: ByteCount = .kibibytes(256), layout: DiskLayout = .tested,
    delivered: DeliveredReports
  ) throws -> DiskTier {
    var options = DiskOptions(
      limit: limit, layout: layout, durability: .processCrash, commitInterval: .milliseconds(1))
    // The readers of these tests end after a bounded number of commits, regardless of the speed of the machine.
    options.readerPatience = .unreachable
    options.retryInterval = .unreachable
    return try DiskTier(directory: scratch.store, options: options) { report in
      delivered.reports.withLock { $0.append(report) }
    }
  }

  @Test(arguments: [1, 3], [DiskLayout.ordered, .dense])
  func `readers that end do not degrade a store of the smallest size`(
    readerCount: Int, layout: DiskLayout
  ) async throws {
    let scratch = TemporaryDirectory()
    let delivered = DeliveredReports()
    let tier = try Self.open(scratch, layout: layout, delivered: delivered)
    let cache = try tier.cache(delivered: delivered)
    for number in 0..<20 { cache.put("k\(number)", value(number, size: 8000)) }
    try await tier.flush()
    let isDone = Switch<Bool>()
    await withTaskGroup(of: Void.self) { group in
      for reader in 0..<readerCount {
        group.addTask(executorPreference: ThreadPerJob()) {
          Self.read("k", of: 20, in: cache, of: tier, seed: reader, until: isDone)
        }
      }
      group.addTask {
        for number in 0..<400 {
          cache.put("k\(number % 20)", value(number, size: 8000))
          await cache.waitForRoom()
        }
        isDone.set(true)
      }
    }
    try await tier.flush()
    #expect(delivered.reportCodes == [])
    #expect(delivered.lost(.notWritten) == [])
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  /// Readers of the last snapshots can keep all free extents from the copies of records that are read.
  @Test func `frequently read keys survive a scan beside readers that end`() async throws {
    let scratch = TemporaryDirectory()
    let delivered = DeliveredReports()
    let tier = try Self.open(scratch, limit: .mebibytes(1), delivered: delivered)
    let cache = try tier.cache(delivered: delivered)
    for number in 0..<30 { cache.put("hot-\(number)", value(number, size: 1000)) }
    try await tier.flush()
    let isDone = Switch<Bool>()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for reader in 0..<2 {
        group.addTask(executorPreference: ThreadPerJob()) {
          Self.read("hot-", of: 30, in: cache, of: tier, seed: reader, until: isDone)
        }
      }
      group.addTask {
        defer { isDone.set(true) }
        for number in 0..<2000 {
          cache.put("cold-\(number)", value(number, size: 1000))
          guard number % 20 == 0 else { continue }
          try #require((0..<30).allSatisfy { cache.get("hot-\($0)") != nil }, "after \(number)")
          try await tier.flush()
        }
      }
      try await group.waitForAll()
    }
    try await tier.flush()
    #expect(cache.statistics.evictions > 1000)
    #expect(delivered.reportCodes == [])
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  /// Reads keys, each in a snapshot that lasts until some more commits have ended, or the writer thread waits.
  ///
  /// It blocks the thread, so it must not run on one of the pool, which the writers of the tests need. It sleeps, because
  /// readers that only yield would take the processors from the writers.
  private static func read(
    _ prefix: String, of count: Int, in cache: any TransactionalPartition, of tier: DiskTier, seed: Int,
    until isDone: Switch<Bool>
  ) {
    var generator = SeededGenerator(seed: UInt64(seed))
    let engine = tier.engine
    while isDone.peek() == nil {
      let key = Array("\(prefix)\(Int.random(in: 0..<count, using: &generator))".utf8)
      let length = Int.random(in: 0..<4, using: &generator)
      cache.withRecord(forKey: key.rawSpan) { _, _ in
        let target = engine.counters.commits.load(ordering: .relaxed) + length
        while engine.counters.commits.load(ordering: .relaxed) < target, isDone.peek() == nil,
          !engine.writerAwaitsReader.load(ordering: .acquiring)
        { usleep(500) }
      }
    }
  }
}
