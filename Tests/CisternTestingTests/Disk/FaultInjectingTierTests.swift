import Cistern
import CisternTesting
import Testing

struct FaultInjectingTierTests {
  private let tier = FaultInjectingTier(commits: .onDemand, losses: .onDemand)
  private let lost = Recorder<String>()

  private func open(_ tier: FaultInjectingTier? = nil) throws -> any TransactionalPartition {
    try (tier ?? self.tier).transactionalPartition(named: "p") { [lost] losses in
      for loss in losses {
        lost.record("\(String(decoding: loss.key, as: UTF8.self)) \(loss.cause)")
      }
    }
  }

  @Test func `a staged write is readable immediately, and committed on demand`() async throws {
    let partition = try open()
    let ticket = try #require(partition.set("a", [1]).ticket)
    #expect(partition.bytes("a") == [1])
    #expect(partition.contains("a"))
    #expect(tier.committedBytes(forKey: Name("a"), in: "p") == nil)
    #expect(partition.keys == [])
    #expect(tier.statistics.stagedCount == 1)
    tier.commit()
    try await partition.waitForCommit(ticket)
    #expect(tier.committedBytes(forKey: Name("a"), in: "p") == [1])
    #expect(partition.keys == [[97]])
    #expect(tier.statistics.entryCount == 1)
    #expect(tier.statistics.stores == 1)
    #expect(tier.statistics.liveBytes == 2)
  }

  @Test func `writes are committed in the order of their staging, and the last one wins`() throws {
    let partition = try open()
    partition.set("a", [1])
    partition.set("b", [2])
    partition.set("a", [3])
    partition.remove("b")
    tier.commit(2)
    #expect(tier.committedBytes(forKey: Name("a"), in: "p") == [1])
    #expect(tier.committedBytes(forKey: Name("b"), in: "p") == [2])
    #expect(partition.bytes("a") == [3])
    #expect(partition.bytes("b") == nil)
    tier.commit()
    #expect(tier.committedBytes(forKey: Name("a"), in: "p") == [3])
    #expect(tier.committedBytes(forKey: Name("b"), in: "p") == nil)
  }

  @Test func `after the removal of all, no earlier write is readable, committed or staged`() throws {
    let partition = try open()
    partition.set("a", [1])
    tier.commit()
    partition.set("b", [2])
    let ticket = partition.stageRemovalOfAll()
    partition.set("c", [3])
    #expect(partition.bytes("a") == nil)
    #expect(partition.bytes("b") == nil)
    #expect(partition.bytes("c") == [3])
    tier.commit(1)
    #expect(partition.bytes("b") == nil)
    tier.commit()
    #expect(partition.keys == [[99]])
    #expect(ticket.number == 3)
  }

  @Test func `partitions are separate`() throws {
    let (first, second) = (try open(), try tier.transactionalPartition(named: "q") { _ in })
    first.set("a", [1])
    second.set("a", [2])
    tier.commit()
    _ = second.stageRemovalOfAll()
    #expect(first.bytes("a") == [1])
    #expect(second.bytes("a") == nil)
  }

  @Test func `a failed commit loses its records, reports them as lost, and throws to its waiters`() async throws {
    let partition = try open()
    partition.set("a", [1])
    tier.commit()
    tier.failCommits()
    partition.set("a", [2])
    let ticket = try #require(partition.set("b", [2]).ticket)
    await #expect { try await tier.flush() } throws: { ($0 as? CisternError)?.code == .noSpace }
    await #expect(throws: CisternError.self) { try await partition.waitForCommit(ticket) }
    #expect(partition.bytes("a") == nil)
    #expect(partition.bytes("b") == nil)
    tier.deliverLosses()
    #expect(lost.elements == ["a notWritten", "b notWritten"])
    #expect(tier.statistics.failed == 2)
    partition.set("a", [3])
    try await tier.flush()
    #expect(partition.bytes("a") == [3])
  }

  @Test func `a refused write acts as a removal of the older record`() throws {
    let partition = try open()
    partition.set("a", [1])
    partition.set("b", [1])
    tier.commit()
    tier.setSizeLimit(2)
    tier.refuseRecords { $0.key == Name("b").bytes }
    #expect(partition.set("a", [1, 2, 3]).ticket == nil)
    #expect(partition.set("b", [2]).ticket == nil)
    #expect(partition.bytes("a") == nil)
    #expect(partition.bytes("b") == nil)
    tier.commit()
    #expect(partition.keys == [])
    #expect(tier.statistics.refused == 2)
    #expect(lost.count == 0)
  }

  @Test func `an evicted record is reported as lost, unless a newer one is staged`() throws {
    let partition = try open()
    partition.set("a", [1])
    partition.set("b", [1])
    tier.commit()
    partition.set("b", [2])
    #expect(tier.evict(Name("a"), from: "p"))
    #expect(!tier.evict(Name("b"), from: "p"))
    #expect(!tier.evict(Name("c"), from: "p"))
    #expect(partition.bytes("a") == nil)
    #expect(partition.bytes("b") == [2])
    #expect(lost.count == 0)
    tier.deliverLosses()
    #expect(lost.elements == ["a evicted"])
  }

  @Test func `above the record limit, the oldest records are evicted`() throws {
    let partition = try open()
    tier.setRecordLimit(2)
    for key in ["a", "b", "c", "d"] as [Name] { partition.set(key, [1]) }
    tier.commit()
    tier.deliverLosses()
    #expect(lost.elements == ["a evicted", "b evicted"])
    #expect(partition.keys == [[99], [100]])
  }

  @Test func `a damaged record is a miss, is removed, and is reported as lost`() throws {
    let partition = try open()
    partition.set("a", [1])
    tier.commit()
    tier.damage(Name("a"), in: "p")
    #expect(partition.bytes("a") == nil)
    tier.deliverLosses()
    #expect(lost.elements == ["a damaged"])
    #expect(tier.statistics.damaged == 1)
    #expect(tier.statistics.entryCount == 0)
  }

  @Test func `corrupt bytes are returned unchanged`() throws {
    let partition = try open()
    partition.set("a", [1, 2])
    tier.commit()
    tier.corrupt(Name("a"), in: "p") { $0[0] ^= 0x80 }
    #expect(partition.bytes("a") == [0x81, 2])
  }

  @Test func `the hook runs between the load and the reader`() throws {
    let partition = try open()
    partition.set("a", [1])
    tier.setAfterLoad { _ in partition.set("a", [2]) }
    #expect(partition.bytes("a") == [1])
    tier.setAfterLoad(nil)
    #expect(partition.bytes("a") == [2])
  }

  @Test func `after a crash committed records are present, and staged ones are lost`() throws {
    let partition = try open()
    partition.set("a", [1])
    tier.commit()
    partition.set("a", [2])
    partition.set("b", [2])
    let reopened = try open(tier.reopenedAfterCrash())
    #expect(reopened.bytes("a") == [1])
    #expect(reopened.bytes("b") == nil)
  }

  @Test(arguments: [SecondTierStatistics.Mode.degraded, .closed])
  func `a tier that does not work misses and refuses, and recovers without the refused writes`(
    mode: SecondTierStatistics.Mode
  ) throws {
    let partition = try open()
    partition.set("a", [1])
    partition.set("b", [1])
    tier.commit()
    partition.set("c", [1])
    tier.setMode(mode)
    #expect(partition.bytes("a") == nil)
    #expect(!partition.contains("a"))
    #expect(partition.set("a", [2]).ticket == nil)
    #expect(partition.set("c", [2]).ticket == nil)
    #expect(tier.statistics.mode == mode)
    tier.setMode(.active)
    #expect(partition.bytes("a") == nil)
    #expect(partition.bytes("b") == [1])
    // Writes that were staged before the failure do not return either.
    tier.commit()
    #expect(partition.bytes("c") == nil)
  }

  @Test func `a failing tier does not know which keys are present, and an active or closed one does`() throws {
    let partition = try open()
    partition.set("a", [1])
    tier.commit()
    partition.set("b", [1])
    for mode in [SecondTierStatistics.Mode.active, .readOnly] {
      tier.setMode(mode)
      #expect((["a", "b", "c"] as [Name]).map { partition.presence(of: $0) } == [true, true, false])
    }
    tier.setMode(.degraded)
    #expect((["a", "b", "c"] as [Name]).map { partition.presence(of: $0) } == [nil, nil, nil])
    tier.setMode(.closed)
    #expect((["a", "b", "c"] as [Name]).map { partition.presence(of: $0) } == [false, false, false])
  }

  @Test func `immediate commits and record losses in tasks are part of a seeded schedule`() throws {
    try SeededSchedule.explore(seeds: 100) { executor in
      let tier = FaultInjectingTier(taskExecutor: executor)
      let reported = Gate(isOpen: true)
      let partition = try tier.transactionalPartition(named: "p") { _ in
        _ = Task(executorPreference: executor) { await reported.passUncancelled() }
      }
      let ticket = try #require(partition.set("a", [1]).ticket)
      try await partition.waitForCommit(ticket)
      tier.evict(Name("a"), from: "p")
      await reported.arrivals(atLeast: 1)
      try await tier.close()
      try #require(tier.statistics.mode == .closed)
    }
  }

  @Test func `waiters for space resume when the test opens it`() throws {
    try SeededSchedule.explore(seeds: 100) { executor in
      let tier = FaultInjectingTier(taskExecutor: executor)
      let partition = try tier.transactionalPartition(named: "p") { _ in }
      tier.room.close()
      let waiter = Task(executorPreference: executor) { await partition.waitForRoom() }
      await tier.room.arrivals(atLeast: 1)
      while tier.room.waitingCount == 0 { await Task.yield() }
      tier.room.open()
      await waiter.value
      try #require(tier.room.waitingCount == 0)
    }
  }

  private func stamped(_ key: Name, _ bytes: [UInt8], invalidationVersion: UInt64, tags: [String] = []) -> StagedWrite {
    var metadata = RecordMetadata(created: WallTime(nanosecondsSince1970: 0), cost: 1, tags: tags)
    metadata.invalidationVersion = invalidationVersion
    return .record(key: key.bytes, metadata, bytes: bytes)
  }

  @Test func `an invalidation hides committed, staged and later staged records, and survives a crash once committed`()
    throws
  {
    let partition = try open()
    _ = partition.stage(stamped("a", [1], invalidationVersion: 0, tags: ["red"]))
    tier.commit()
    _ = partition.stage(stamped("b", [1], invalidationVersion: 0, tags: ["red"]))
    _ = partition.stage(stamped("c", [1], invalidationVersion: 0))
    #expect(partition.stageInvalidation(.tag("red")).version.number == 1)
    #expect(partition.bytes("a") == nil && partition.bytes("b") == nil && partition.bytes("c") == [1])
    #expect(partition.stage(stamped("d", [1], invalidationVersion: 0, tags: ["red"])).ticket == nil)
    #expect(partition.bytes("d") == nil)
    _ = partition.stage(stamped("a", [2], invalidationVersion: partition.invalidationVersion.number, tags: ["red"]))
    #expect(partition.bytes("a") == [2])
    // The invalidation is not committed yet: a crash loses it and all later writes.
    #expect(try open(tier.reopenedAfterCrash()).bytes("a") == [1])
    _ = try open()
    tier.commit()
    let reopened = try open(tier.reopenedAfterCrash())
    #expect(reopened.keys == [[97], [99]])
    #expect(reopened.invalidationVersion.number == 1)
    #expect(lost.count == 0)
  }

  @Test func `a batch is committed as a whole, and not while it is open`() throws {
    let partition = try open()
    let batch = partition.beginBatch()
    _ = partition.stage(stamped("a", [1], invalidationVersion: 0), in: batch)
    tier.commit()
    #expect(tier.statistics.entryCount == 0)
    _ = partition.stage(stamped("b", [1], invalidationVersion: 0), in: batch)
    partition.endBatch(batch)
    tier.commit(1)
    #expect(partition.keys == [[97], [98]])
    tier.setBatchLimit(3)
    #expect(partition.canHold(batchBytes: 0, count: 3))
    #expect(!partition.canHold(batchBytes: 0, count: 4))
  }
}
