import CisternTestSupport
import LMDB
import Testing

@testable import CisternCore
@testable import CisternDisk

/// A dense file in which all partition numbers are in use.
@Suite struct PartitionNumbersTests {
  /// Opens a tier with a record of one cache. Gives all other numbers to generations, of which some are dead.
  private func tier(_ scratch: TemporaryDirectory, deadCount: UInt64) async throws -> DiskTier {
    let tier = try openTier(scratch, limit: .mebibytes(64), layout: .dense, interval: .unreachable)
    try tier.cache("first").put("k", bytes("value"))
    try await tier.flush()
    let file = try #require(tier.engine.file)
    try file.environment.withWrite { (transaction) throws(LMDBError) in
      for number in 1...UInt16.max {
        let generation = Generation(number: 1 << 32 + UInt64(number))
        try transaction.put(
          MetaTable.value(generation), forKey: MetaTable.partitionNumber(PartitionNumber(number: number)), in: file.meta
        )
        if number <= deadCount {
          try transaction.put(MetaTable.value(UInt64(0)), forKey: MetaTable.dead(generation), in: file.meta)
        }
      }
    }
    return tier
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

  private struct Refused: Error {}
}
