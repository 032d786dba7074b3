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

  @Test func `a commit that is published late leaves the generation of another process's later commit`() {
    let partition = Partition(name: "values")
    partition.learn(generation: .first, transaction: 9)
    // Between the commit of this process and its publication, a reader learns that another process cleared the partition.
    partition.learn(generation: .zero, transaction: 11)
    partition.publish(generation: .first, clearCount: partition.clearCount, transaction: 10)
    #expect(partition.generation == .zero)
    partition.publish(generation: 2, clearCount: partition.clearCount, transaction: 12)
    #expect(partition.generation == 2)
    // The same after a clear of this process, which hides what the reader learns.
    _ = partition.removeAll { 1 }
    _ = partition.beginCommitting()
    partition.learn(generation: 4, transaction: 14)
    #expect(partition.generation == .zero)
    partition.publish(generation: 3, clearCount: partition.clearCount, transaction: 13)
    #expect(partition.generation == 4)
  }
}
