import CisternTestSupport
import LMDB
import Testing

@testable import CisternCore
@testable import CisternDisk

/// Commits of other processes, which the writer notices in its next transaction.
@Suite struct ForeignCommitTests {
  @Test func `the writer purges what another process has cleared, if a retry of the disk notices it`() async throws {
    let scratch = TemporaryDirectory()
    let failing = Switch<DiskFaults.Fault>()
    let tier = try openTier(scratch, interval: .unreachable, faults: DiskFaults { failing.peek() })
    let cache = try tier.cache()
    cache.put("k", bytes("value"))
    try await tier.flush()
    failing.set(.inputOutput)
    cache.put("k", bytes("newer"))
    await #expect(throws: CisternError.self) { try await tier.flush() }
    failing.set(nil)
    // Another process ends before it has purged the generation that it cleared.
    let file = try #require(tier.engine.file)
    let key = MetaTable.dead(1000)
    try file.environment.withWrite { (transaction) throws(LMDBError) in
      try transaction.put(MetaTable.value(UInt64(0)), forKey: key, in: file.meta)
    }
    #expect(try file.deadGenerations() == [1000])
    // The retry commits a change apart from the group, and notices the commit.
    try await tier.flush()
    #expect(tier.engine.mode == .active)
    try await tier.purge()
    #expect(try file.deadGenerations() == [])
    try await tier.close()
  }
}
