import CisternTestSupport
import CisternTesting
import LMDB
import Testing

@testable import CisternCore
@testable import CisternDisk

/// The purge of the generations that clears leave in the file.
@Suite struct DeadGenerationsTests {
  private static let dead = (1000..<1040).map { Generation(number: UInt64($0)) }

  /// Makes generations without records dead, as another process does that ends before it has purged them.
  private func leaveDead(in file: DiskFile) throws {
    try file.environment.withWrite { (transaction) throws(LMDBError) in
      for generation in Self.dead {
        try transaction.put(MetaTable.value(UInt64(0)), forKey: MetaTable.dead(generation), in: file.meta)
      }
    }
  }

  @Test(arguments: [DiskLayout.ordered, .dense])
  func `many dead generations without records share a transaction`(layout: DiskLayout) async throws {
    let scratch = TemporaryDirectory()
    let transactions = Recorder<Void>()
    let faults = DiskFaults {
      transactions.record(())
      return nil
    }
    let tier = try openTier(
      scratch, limit: .mebibytes(64), layout: layout, interval: .unreachable, faults: faults)
    let cache = try tier.cache()
    cache.put("k", bytes("value"))
    try await tier.flush()
    let file = try #require(tier.engine.file)
    try leaveDead(in: file)
    let former = transactions.count
    cache.put("k", bytes("newer"))
    try await tier.purge()
    #expect(try file.deadGenerations() == [])
    // The commit, the purge, and at most some commits of nothing.
    #expect(transactions.count - former < 10)
    #expect(cache.get("k") == bytes("newer") && tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test(arguments: [DiskLayout.ordered, .dense])
  func `a purge of several generations removes the records of all, and of no other`(layout: DiskLayout) async throws {
    let scratch = TemporaryDirectory()
    let tier = try openTier(scratch, limit: .mebibytes(4), layout: layout, interval: .unreachable)
    // A transaction purges about 5 records, so that generations end within transactions and at their limits.
    let caches = try (0..<12).map { try tier.cache("cache \($0)") }
    let kept = try tier.cache("kept")
    for (number, cache) in caches.enumerated() {
      for record in 0...number { cache.put("k\(record)", bytes("value")) }
    }
    kept.put("k", bytes("kept"))
    try await tier.flush()
    for cache in caches { _ = cache.stageRemovalOfAll() }
    try await tier.purge()
    #expect(try tier.engine.file?.deadGenerations() == [])
    #expect(kept.get("k") == bytes("kept") && caches.allSatisfy { $0.get("k0") == nil })
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }
}
