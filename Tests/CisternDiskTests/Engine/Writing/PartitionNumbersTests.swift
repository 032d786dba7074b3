import CisternTestSupport
import CisternTesting
import LMDB
import Testing

@testable import CisternCore
@testable import CisternDisk

/// A dense file in which all partition numbers are in use.
@Suite struct PartitionNumbersTests {
  /// Opens a tier with a record of one cache. Gives the other numbers to generations, of which some are dead.
  private func tier(_ scratch: TemporaryDirectory, deadCount: UInt64, freeCount: UInt16 = 0) async throws -> DiskTier {
    let tier = try openTier(scratch, limit: .mebibytes(64), layout: .dense, interval: .unreachable)
    try tier.cache("first").put("k", bytes("value"))
    try await tier.flush()
    try use(1...UInt16.max - freeCount, in: tier, deadCount: deadCount)
    return tier
  }

  /// Gives the numbers to generations, of which the first ones are dead.
  private func use(_ numbers: ClosedRange<UInt16>, in tier: DiskTier, deadCount: UInt64 = 0) throws {
    let file = try #require(tier.engine.file)
    try file.environment.withWrite { (transaction) throws(LMDBError) in
      for number in numbers {
        let generation = Generation(number: 1 << 32 + UInt64(number))
        try transaction.put(
          MetaTable.value(generation), forKey: MetaTable.partitionNumber(PartitionNumber(number: number)), in: file.meta
        )
        if number <= deadCount {
          try transaction.put(MetaTable.value(UInt64(0)), forKey: MetaTable.dead(generation), in: file.meta)
        }
      }
    }
  }

  @Test func `a record of a new generation waits for the purge of cleared ones, and evicts nothing`() async throws {
    let scratch = TemporaryDirectory()
    let tier = try await tier(scratch, deadCount: 3)
    let caches = try ["second", "third"].map { try tier.cache($0) }
    for cache in caches { cache.put("k", bytes("newer")) }
    try await tier.flush()
    #expect(caches.allSatisfy { $0.get("k") == bytes("newer") })
    #expect(try tier.cache("first").get("k") == bytes("value"))
    #expect(try tier.engine.file?.deadGenerations() == [])
    #expect(tier.statistics.evictions == 0 && tier.engine.mode == .active)
    try await tier.close()
  }

  @Test func `a record is given up if caches with values have all numbers, and evicts nothing`() async throws {
    let scratch = TemporaryDirectory()
    let tier = try await tier(scratch, deadCount: 0)
    let (first, second) = (try tier.cache("first"), try tier.cache("second"))
    guard case .staged(let ticket) = second.put("k", bytes("newer")) else { throw Refused() }
    first.put("other", bytes("value"))
    let error = await #expect(throws: CisternError.self) { try await second.waitForCommit(ticket) }
    #expect(error?.code == .tooLarge && tier.engine.mode == .active)
    #expect(second.get("k") == nil)
    #expect(["k", "other"].allSatisfy { first.get($0) == bytes("value") })
    try? await tier.close()
  }

  @Test func `a record waits for no more purges than it needs`() async throws {
    let scratch = TemporaryDirectory()
    let waiting = Switch<Partition>()
    let transactions = Recorder<Void>()
    let faults = DiskFaults {
      if waiting.peek()?.staging.isEmpty == false { transactions.record(()) }
      return nil
    }
    let tier = try openTier(
      scratch, limit: .mebibytes(64), layout: .dense, interval: .unreachable, faults: faults)
    let cleared = try (0..<8).map { try tier.cache("cleared \($0)") }
    for cache in cleared {
      for number in 0..<500 { cache.put("k\(number)", bytes("value")) }
    }
    try await tier.flush()
    try use(8...UInt16.max, in: tier)
    let newer = try tier.cache("newer")
    for cache in cleared { _ = cache.stageRemovalOfAll() }
    newer.put("k", bytes("newer"))
    waiting.set(tier.engine.partition(named: "newer"))
    try await tier.flush()
    #expect(newer.get("k") == bytes("newer") && tier.statistics.evictions == 0)
    // A transaction purges at most 85 records, so that the purge of all takes more than 40.
    #expect(transactions.count < 25)
    try await tier.close()
  }

  @Test(arguments: [UInt64(1), 0])
  func `a batch that needs more numbers than are free evicts nothing`(deadCount: UInt64) async throws {
    let scratch = TemporaryDirectory()
    let tier = try await tier(scratch, deadCount: deadCount, freeCount: 1)
    let caches = try ["second", "third"].map { try tier.cache($0) }
    let batch = tier.beginBatch()
    for cache in caches {
      _ = cache.stage(
        .record(
          key: Array("k".utf8), RecordMetadata(created: WallTime(nanosecondsSince1970: 1), cost: 1),
          bytes: bytes("newer")), in: batch)
    }
    let ticket = tier.endBatch(batch)
    if deadCount > 0 {
      try await tier.waitForCommit(ticket)
      #expect(caches.allSatisfy { $0.get("k") == bytes("newer") })
    } else {
      let error = await #expect(throws: CisternError.self) { try await tier.waitForCommit(ticket) }
      #expect(error?.code == .tooLarge)
      #expect(caches.allSatisfy { $0.get("k") == nil })
    }
    #expect(try tier.cache("first").get("k") == bytes("value"))
    #expect(tier.statistics.evictions == 0 && tier.engine.mode == .active)
    try? await tier.close()
  }

  private struct Refused: Error {}
}
