import CisternTestSupport
import Foundation
import Testing

@testable import CisternCore
@testable import CisternDisk

/// Invalidations of all partitions of a tier.
@Suite struct DiskStoreInvalidationTests {
  private func invalidate(
    _ tag: String, in tier: DiskTier, besides open: [String: any TransactionalPartition] = [:]
  ) -> CommitTicket {
    let batch = tier.beginInvalidating()
    for partition in open.values { _ = partition.stageInvalidation(.tag(tag), in: batch) }
    tier.stageInvalidation(.tag(tag), exceptIn: Set(open.keys), in: batch)
    return tier.endInvalidating(batch)
  }

  private func fill(_ scratch: TemporaryDirectory, names: [String]) async throws {
    let tier = try openTier(scratch)
    for name in names {
      let cache = try tier.cache(name)
      for number in 0..<30 { cache.put("k\(number)", [1], tags: number % 2 == 0 ? ["gone"] : ["kept"]) }
    }
    try await tier.close()
  }

  @Test(arguments: [false, true])
  func `an invalidation of all partitions reaches those that are opened before and after its commit`(
    isCommitted: Bool
  ) async throws {
    let scratch = TemporaryDirectory()
    try await fill(scratch, names: ["one", "two", "three"])
    let delivered = DeliveredReports()
    let tier = try openTier(scratch, delivered: delivered, interval: .unreachable)
    let one = try tier.cache("one", delivered: delivered)
    let ticket = invalidate("gone", in: tier, besides: ["one": one])
    if isCommitted { try await tier.waitForCommit(ticket) }
    let two = try tier.cache("two", delivered: delivered)
    for cache in [one, two] {
      for number in 0..<30 { #expect((cache.get("k\(number)") == nil) == (number % 2 == 0)) }
    }
    #expect(two.invalidationVersion == 1)
    two.put("new", [2], tags: ["gone"])
    #expect(two.get("new") == [2])
    try await tier.purge()
    #expect(two.get("new") == [2])
    // The writer thread has opened the third partition to purge it.
    #expect(tier.engine.partitions.count == 3)
    #expect(tier.statistics.entryCount == 3 * 15 + 1)
    #expect(delivered.lostKeys == [] && delivered.reportCodes == [])
    #expect(tier.checkInvariants() == [])
    try await tier.close()
    let again = try openTier(scratch)
    #expect(try again.cache("three").keys().count == 15)
    try await again.close()
  }

  @Test func `an invalidation of all partitions holds for those that are not open, also in an older copy of the file`()
    async throws
  {
    let scratch = TemporaryDirectory()
    try await fill(scratch, names: ["one", "two"])
    let tier = try openTier(scratch, interval: .unreachable)
    let one = try tier.cache("one")
    let older = try Data(contentsOf: scratch.dataFile)
    try await tier.waitForCommit(invalidate("gone", in: tier, besides: ["one": one]))
    try await tier.purge()
    try older.write(to: scratch.dataFile, options: .atomic)
    one.put("new", [2], tags: ["gone"])
    try await tier.flush()
    let two = try tier.cache("two")
    #expect(two.get("k0") == nil && two.get("k1") == [1])
    #expect(two.keys().count == 15 && one.keys().count == 16)
    try await tier.purge()
    #expect(tier.statistics.entryCount == 2 * 15 + 1)
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test func `an invalidation of all partitions conceals no later record if its commit begins again in a new file`()
    async throws
  {
    let scratch = TemporaryDirectory()
    try await fill(scratch, names: ["one", "two"])
    let next = Switch<@Sendable () -> DiskFaults.Fault?>()
    let tier = try openTier(scratch, interval: .unreachable, faults: DiskFaults { next.take()?() })
    let one = try tier.cache("one")
    let ticket = invalidate("gone", in: tier, besides: ["one": one])
    // The group has two transactions, because the batch does not fit into that of the invalidation.
    let batch = one.beginBatch()
    for number in 0..<10 {
      _ = one.stage(DiskPartition.write(bytes("new-\(number)"), value(number, size: 45_000)), in: batch)
    }
    one.endBatch(batch)
    next.set {
      next.set { .corrupted }
      return nil
    }
    try await tier.waitForCommit(ticket)
    #expect(next.peek() == nil && one.keys().count == 10)
    let two = try tier.cache("two")
    two.put("new", [2], tags: ["gone"])
    try await tier.purge()
    #expect(two.keys() == ["new"])
    #expect(tier.checkInvariants() == [])
    try await tier.close()
    let again = try openTier(scratch)
    #expect(try again.cache("two").keys() == ["new"])
    try await again.close()
  }

  @Test func `a partition that is opened during the commit of an invalidation shows no older record`() async throws {
    let scratch = TemporaryDirectory()
    try await fill(scratch, names: ["one", "two"])
    let tier = Switch<DiskTier>()
    let found = Switch<[UInt8]?>()
    // The fault is injected before the transaction becomes visible.
    let opened = try openTier(
      scratch, interval: .unreachable,
      faults: DiskFaults {
        if found.peek() == nil, let two = try? tier.peek()?.cache("two") { found.set(.some(two.get("k0"))) }
        return nil
      })
    tier.set(opened)
    try await opened.waitForCommit(invalidate("gone", in: opened))
    #expect(found.peek() == .some(.none))
    let two = try opened.cache("two")
    #expect(two.get("k0") == nil && two.get("k1") == [1])
    try await opened.purge()
    #expect(opened.statistics.entryCount == 30)
    #expect(opened.checkInvariants() == [])
    tier.set(nil)
    try await opened.close()
  }

  @Test
  func `an invalidation that is staged during the commit of another one reaches the partitions that this commit opens`()
    async throws
  {
    let scratch = TemporaryDirectory()
    try await fill(scratch, names: ["one", "two"])
    let tier = Switch<DiskTier>()
    let isStaged = Switch<Bool>()
    let opened = try openTier(
      scratch, interval: .unreachable,
      faults: DiskFaults {
        guard let tier = tier.take() else { return nil }
        _ = invalidate("kept", in: tier)
        isStaged.set(true)
        return nil
      })
    tier.set(opened)
    // The writer thread opens both partitions after this commit.
    try await opened.waitForCommit(invalidate("gone", in: opened))
    #expect(isStaged.peek() == true)
    for name in ["one", "two"] { #expect(try opened.cache(name).keys() == []) }
    try await opened.flush()
    #expect(opened.checkInvariants() == [])
    try await opened.close()
    let again = try openTier(scratch)
    for name in ["one", "two"] { #expect(try again.cache(name).keys() == []) }
    try await again.close()
  }

  @Test func `too many invalidations empty the partitions that are not open`() async throws {
    let scratch = TemporaryDirectory()
    try await fill(scratch, names: ["one", "two"])
    let tier = try openTier(scratch, limit: .mebibytes(1), interval: .unreachable)
    let one = try tier.cache("one")
    let count = tier.engine.limits.invalidationBytes / 90
    for number in 0..<count { _ = invalidate("none-\(number)", in: tier, besides: [:]) }
    #expect(tier.engine.unopened.withLock { $0.pending.removesAll && $0.pending.invalidations.isEmpty })
    #expect(tier.engine.stagedCount.load(ordering: .relaxed) < count)
    try await tier.purge()
    #expect(try tier.cache("two").keys() == [] && one.keys() == [])
    #expect(tier.engine.stagedCount.load(ordering: .relaxed) == 0)
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test func `an invalidation of all partitions is committed when a failing disk works again`() async throws {
    let scratch = TemporaryDirectory()
    try await fill(scratch, names: ["one", "two"])
    let failing = Switch<DiskFaults.Fault>()
    let tier = try openTier(scratch, interval: .unreachable, faults: DiskFaults { failing.peek() })
    let one = try tier.cache("one")
    failing.set(.inputOutput)
    let ticket = invalidate("gone", in: tier, besides: ["one": one])
    await #expect(throws: CisternError.self) { try await tier.waitForCommit(ticket) }
    #expect(one.get("k0") == nil)
    _ = invalidate("kept", in: tier, besides: ["one": one])
    failing.set(nil)
    _ = try? await tier.flush()
    try await tier.flush()
    try await tier.purge()
    #expect(try one.keys() == [] && tier.cache("two").keys() == [])
    #expect(tier.engine.stagedCount.load(ordering: .relaxed) == 0)
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test func `a closed tier takes no invalidation, and a close does not divide one`() async throws {
    let scratch = TemporaryDirectory()
    try await fill(scratch, names: ["one", "two"])
    let tier = try openTier(scratch, interval: .unreachable)
    let one = try tier.cache("one")
    let batch = tier.beginInvalidating()
    _ = one.stageInvalidation(.tag("gone"), in: batch)
    #expect(tier.detach())
    tier.stageInvalidation(.tag("gone"), exceptIn: ["one"], in: batch)
    _ = tier.endInvalidating(batch)
    await tier.release()
    let late = invalidate("kept", in: tier, besides: ["one": one])
    await #expect(throws: CisternError.self) { try await tier.waitForCommit(late) }
    let again = try openTier(scratch)
    for name in ["one", "two"] {
      let cache = try again.cache(name)
      #expect(cache.get("k0") == nil && cache.get("k1") == [1])
    }
    try await again.close()
  }

  @Test func `no commit takes a part of an invalidation of all partitions`() async throws {
    let scratch = TemporaryDirectory()
    try await fill(scratch, names: ["one", "two"])
    let copies = Copies(of: scratch)
    let tier = try openTier(scratch, interval: .unreachable, faults: DiskFaults(atCommit: copies.take))
    let one = try tier.cache("one")
    try await tier.flush()
    let first = copies.count
    let batch = tier.beginInvalidating()
    _ = one.stageInvalidation(.tag("gone"), in: batch)
    let flush = Task { try await tier.flush() }
    while !tier.engine.batchGate.withLock({ $0.isTaking }) { await Task.yield() }
    #expect(copies.count == first)
    tier.stageInvalidation(.tag("gone"), exceptIn: ["one"], in: batch)
    _ = tier.endInvalidating(batch)
    try await flush.value
    try await tier.close()
    #expect(copies.count > first)
    for copy in first..<copies.count {
      let crashed = try openTier(copies.scratch(copy))
      let found = try ["one", "two"].map { try crashed.cache($0).get("k0") }
      #expect(found[0] == found[1], "after \(copy) commits")
      try await crashed.close()
    }
  }

  @Test(arguments: DiskLayout.both)
  func `many tags that are removed from many closed caches empty these caches only`(layout: DiskLayout) async throws {
    let scratch = TemporaryDirectory()
    let names = (0..<64).map { "cache\($0)" }
    let first = try openTier(scratch, layout: layout)
    for name in names { try first.cache(name).put("a", bytes(name), tags: ["gone"]) }
    for number in 0..<100 { try first.cache("open").put("k\(number)", value(number, size: 700)) }
    try await first.close()
    let delivered = DeliveredReports()
    // All tags are in one commit.
    let second = try openTier(scratch, layout: layout, delivered: delivered, interval: .unreachable)
    let open = try second.cache("open", delivered: delivered)
    let batch = second.beginInvalidating()
    for number in 0..<2000 {
      second.stageInvalidation(.tag("a tag of the number \(number)"), exceptIn: ["open"], in: batch)
    }
    try await second.waitForCommit(second.endInvalidating(batch))
    for number in 0..<100 { #expect(open.get("k\(number)") == value(number, size: 700)) }
    #expect(delivered.reportCodes == [] && delivered.lostKeys == [])
    #expect(names.allSatisfy { name in (try? second.cache(name).get("a")) == nil })
    #expect(second.checkInvariants() == [])
    try await second.close()
    let third = try openTier(scratch, layout: layout)
    #expect(names.allSatisfy { name in (try? third.cache(name).get("a")) == nil })
    #expect(try third.cache("open").keys().count == 100)
    try await third.close()
  }
}
