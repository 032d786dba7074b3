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

  @Test func `a partition that another process clears while it is opened is read again`() async throws {
    let scratch = TemporaryDirectory()
    let tier = try openTier(scratch, interval: .unreachable)
    try tier.cache("late").put("k", bytes("cleared"))
    try await tier.close()
    let reopened = try openTier(scratch, interval: .unreachable)
    let (engine, cache) = (reopened.engine, try reopened.cache("other"))
    let new = engine.newPartition(named: "late")
    let file = try #require(engine.file)
    var extents: ExtentState?
    try file.withStep(StepContext(), &extents) { (step, transaction) throws(LMDBError) in
      try step.removeAll(of: Partition(name: "late"), in: &transaction.transaction)
      try step.finish(in: &transaction)
    }
    // The writer notices the other process, and does not know the partition.
    cache.put("k", bytes("other"))
    try await reopened.flush()
    #expect(engine.enter(new, named: "late") == nil)
    #expect(try reopened.cache("late").get("k") == nil && cache.get("k") == bytes("other"))
    try await reopened.close()
  }

  @Test func `a partition that is opened between commits of this process is not read again`() async throws {
    let scratch = TemporaryDirectory()
    let tier = try openTier(scratch, interval: .unreachable)
    let cache = try tier.cache("other")
    cache.put("k", bytes("first"))
    try await tier.flush()
    let new = tier.engine.newPartition(named: "late")
    cache.put("k", bytes("second"))
    try await tier.flush()
    #expect(tier.engine.enter(new, named: "late") != nil)
    try await tier.close()
  }

  @Test func `a fetch is compared with another process's invalidation that has the version of an aborted commit`()
    async throws
  {
    let scratch = TemporaryDirectory()
    let tier = try openTier(scratch, interval: .unreachable)
    let file = try #require(tier.engine.file)
    let (own, other) = (Partition(name: "values"), Partition(name: "values"))
    for partition in [own, other] {
      tier.engine.learnGeneration(of: partition, from: file)
      _ = partition.stageInvalidation(.tag("gone"), limit: 1 << 20) { 1 }
    }
    let fetched = DiskPartition.metadata(tags: ["gone"]).with {
      $0.localVersion = own.invalidations.invalidationVersion
    }
    let key = bytes("k")
    let isConcealed = { own.invalidations.conceals(fetched, key: key.rawSpan) }
    #expect(throws: LMDBError.self) { try commit(own, in: file, failingWith: .mapFull) }
    #expect(!isConcealed())
    try commit(other, in: file)
    tier.engine.learnGeneration(of: own, from: file)
    #expect(own.invalidations.fileVersion == 1)
    #expect(isConcealed())
    try await tier.close()
  }

  /// Commits the staged invalidations of a partition as the writer of a process does.
  private func commit(
    _ partition: Partition, in file: DiskFile, failingWith fault: DiskFaults.Fault? = nil
  ) throws(LMDBError) {
    guard let (invalidations, version) = partition.invalidations.beginCommitting() else { return }
    var extents: ExtentState?
    try file.withStep(StepContext(), &extents) { (step, transaction) throws(LMDBError) in
      try step.put(invalidations, invalidationVersion: version, of: partition, in: &transaction.transaction)
      try step.finish(in: &transaction)
      if let fault { throw fault.error(of: "commit") }
    }
  }

  @Test func `a commit that is published late leaves the generation of another process's later commit`() {
    let partition = Partition(name: "values")
    partition.learn(generation: .first, transaction: 9)
    // Between the commit of this process and its publication, a reader learns that another process cleared the
    // partition.
    partition.learn(generation: .zero, transaction: 11)
    partition.publish(generation: .first, clearCount: partition.clearCount, transaction: 10)
    #expect(partition.generation == .zero)
    partition.publish(generation: 2, clearCount: partition.clearCount, transaction: 12)
    #expect(partition.generation == 2)
    // The same after a clear of this process, which hides what the reader learns.
    _ = partition.clear { 1 }
    _ = partition.beginCommitting()
    partition.learn(generation: 4, transaction: 14)
    #expect(partition.generation == .zero)
    partition.publish(generation: 3, clearCount: partition.clearCount, transaction: 13)
    #expect(partition.generation == 4)
  }
}
