import CisternTestSupport
import Testing

@testable import CisternCore
@testable import CisternDisk

/// Invalidations by tag and by prefix. Readers see them immediately, the file keeps them for the next process, and a
/// purge in the background deletes the records.
@Suite struct DiskInvalidationTests {
  @Test func `after an invalidation, no older record with its tag or prefix is read, even one staged later`()
    async throws
  {
    let scratch = TemporaryDirectory()
    let delivered = DeliveredReports()
    let tier = try openTier(scratch, delivered: delivered)
    let cache = try tier.cache(delivered: delivered)
    let long = [UInt8](repeating: 7, count: 100)
    #expect(cache.invalidationVersion == 0)
    cache.put("a", [1], tags: ["red", "blue"])
    cache.put("b", [2], tags: ["green"])
    cache.put("user/1", [3])
    cache.put(long, [4])
    try await tier.flush()
    cache.put("c", [5], tags: ["red"])
    cache.put("user/2", [6])
    let (first, _) = cache.stageInvalidation(.tag("red"))
    #expect(first == 1)
    #expect(cache.get("a") == nil)
    #expect(!cache.has(bytes("a")))
    #expect(cache.get("c") == nil)
    #expect(cache.get("b") == [2])
    // Staged records are not listed. The writer thread may already have committed "user/2".
    #expect(cache.keys().subtracting(["user/2"]) == ["b", "user/1", String(decoding: long, as: UTF8.self)])
    let (second, _) = cache.stageInvalidation(.prefix(bytes("user/")))
    #expect(second == 2)
    #expect(cache.get("user/1") == nil)
    #expect(cache.get("user/2") == nil)
    let (third, ticket) = cache.stageInvalidation(.prefix([7, 7]))
    #expect(third == 3 && cache.invalidationVersion == 3)
    #expect(cache.get(long) == nil)
    // The fetch of this value began before the invalidation, and its write arrives after it.
    guard case .refused = cache.put("d", [7], tags: ["red"], invalidationVersion: 0) else {
      Issue.record("a record older than the invalidation was staged")
      return
    }
    cache.put("e", [8], tags: ["red"])
    cache.put("user/1", [9])
    #expect(cache.get("d") == nil)
    #expect(cache.get("e") == [8])
    #expect(cache.get("user/1") == [9])
    try await cache.waitForCommit(ticket)
    try await tier.purge()
    #expect(cache.keys() == ["b", "e", "user/1"])
    #expect(cache.statistics.entryCount == 3)
    // The tier does not report purged records as losses. The caller of the invalidation notifies the observers.
    #expect(delivered.lostKeys == [])
    // An older record is also hidden after the purge.
    cache.put("d", [7], tags: ["red"], invalidationVersion: 0)
    #expect(cache.get("d") == nil)
    try await tier.flush()
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test
  func `invalidations affect one partition, tags differ from prefixes, and tags compare as strings`() async throws {
    let scratch = TemporaryDirectory()
    let tier = try openTier(scratch)
    let one = try tier.cache("one")
    let two = try tier.cache("two")
    for cache in [one, two] {
      cache.put("key", [1], tags: ["caf\u{e9}"])
      cache.put("caf\u{e9}", [2])
      cache.put("", [3], tags: [""])
    }
    try await tier.flush()
    _ = one.stageInvalidation(.tag("cafe\u{301}"))
    #expect(one.get("key") == nil)
    #expect(one.get("caf\u{e9}") == [2])
    #expect(two.get("key") == [1])
    try await tier.flush()
    _ = one.stageInvalidation(.tag("caf\u{e9}"))
    _ = one.stageInvalidation(.tag(""))
    #expect(one.get("") == nil)
    _ = two.stageInvalidation(.prefix([]))
    #expect(two.keys() == [])
    #expect(one.invalidationVersion == 3 && two.invalidationVersion == 1)
    try await tier.purge()
    #expect(one.keys() == ["caf\u{e9}"])
    #expect(two.statistics.entryCount == 0)
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test
  func `repeated invalidations of a tag combine into the newest one, whose purge visits every record`() async throws {
    let scratch = TemporaryDirectory()
    let delivered = DeliveredReports()
    // Only a flush commits. Otherwise the writer thread could purge the first invalidations before the last are
    // staged.
    let tier = try openTier(scratch, limit: .mebibytes(8), delivered: delivered, interval: .unreachable)
    let cache = try tier.cache(delivered: delivered)
    for number in 0..<6000 {
      cache.put("k\(number)", [1], tags: number % 2 == 0 ? ["even"] : [])
      await cache.waitForRoom()
    }
    try await tier.flush()
    for _ in 0..<100 { _ = cache.stageInvalidation(.tag("even")) }
    #expect(tier.engine.partitions[0].invalidations.pending == [.tag("even"): 100])
    for number in stride(from: 0, to: 6000, by: 6) { cache.put("k\(number)", [2], tags: ["even"]) }
    try await tier.purge()
    for number in 0..<6000 {
      let expected: [UInt8]? = number % 6 == 0 ? [2] : number % 2 == 0 ? nil : [1]
      #expect(cache.get("k\(number)") == expected)
    }
    #expect(cache.statistics.entryCount == 4000)
    #expect(delivered.lostKeys == [])
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test
  func `invalidations survive a restart before their purge, and their versions continue to increase`() async throws {
    let scratch = TemporaryDirectory()
    var tier = try openTier(scratch)
    var cache = try tier.cache()
    for number in 0..<100 { cache.put("k\(number)", [1], tags: ["t\(number % 10)"]) }
    try await tier.flush()
    let ticket = cache.stageInvalidation(.tag("t3")).ticket
    try await cache.waitForCommit(ticket)
    try await tier.close()
    for round in 1...3 as ClosedRange<UInt64> {
      let readOnly = try openTier(scratch, isReadOnly: true)
      let view = try readOnly.cache()
      #expect(view.invalidationVersion.number == round)
      #expect(view.get("k3") == nil)
      #expect(view.get("k13") == nil)
      #expect((view.get("k4") == nil) == (round > 1))
      // An invalidation in a read-only store lasts until the store is closed.
      #expect(view.stageInvalidation(.tag("t9")).version.number == round + 1)
      #expect(view.get("k9") == nil)
      try await readOnly.close()

      tier = try openTier(scratch)
      cache = try tier.cache()
      #expect(cache.invalidationVersion.number == round)
      #expect(cache.get("k3") == nil)
      #expect(cache.get("k9") == [1])
      #expect(cache.keys().count == 100 - 10 * Int(round))
      #expect(cache.stageInvalidation(.tag("t\(3 + round)")).version.number == round + 1)
      if round == 2 { try await tier.purge() }
      try await tier.close()
    }
    tier = try openTier(scratch)
    cache = try tier.cache()
    try await tier.purge()
    #expect(cache.statistics.entryCount == 60)
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test func `an invalidation that fails to commit is in force, and is committed when the disk recovers`()
    async throws
  {
    let scratch = TemporaryDirectory()
    let failing = Switch<DiskFaults.Fault>()
    var tier = try openTier(scratch, faults: DiskFaults { failing.peek() })
    var cache = try tier.cache()
    for number in 0..<50 { cache.put("k\(number)", [1], tags: ["t\(number % 5)"]) }
    try await tier.flush()
    failing.set(.inputOutput)
    _ = cache.stageInvalidation(.tag("t0"))
    await #expect(throws: CisternError.self) { try await tier.flush() }
    _ = cache.stageInvalidation(.prefix(bytes("k1")))
    await #expect(throws: CisternError.self) { try await tier.flush() }
    #expect(cache.get("k0") == nil)
    #expect(cache.get("k11") == nil)
    #expect(cache.get("k2") == [1])
    failing.set(nil)
    try await tier.flush()
    #expect(cache.get("k0") == nil)
    #expect(cache.get("k11") == nil)
    let kept = cache.keys()
    #expect(kept.count == 50 - 10 - 9)
    #expect(tier.checkInvariants() == [])
    try await tier.close()
    tier = try openTier(scratch)
    cache = try tier.cache()
    #expect(cache.invalidationVersion == 2)
    #expect(cache.keys() == kept)
    try await tier.close()
  }

  @Test func `invalidations and their versions survive the replacement of a damaged data file`() async throws {
    let scratch = TemporaryDirectory()
    let failing = Switch<DiskFaults.Fault>()
    let delivered = DeliveredReports()
    let tier = try openTier(
      scratch, delivered: delivered, interval: .unreachable, faults: DiskFaults { failing.take() })
    let cache = try tier.cache()
    cache.put("a", [1], tags: ["red"])
    try await tier.flush()
    for _ in 0..<5 { _ = cache.stageInvalidation(.tag("blue")) }
    cache.put("b", [2], tags: ["red"])
    _ = cache.stageInvalidation(.tag("red"))
    cache.put("c", [3], tags: ["red"])
    failing.set(.corrupted)
    try await tier.flush()
    #expect(delivered.reportCodes == [.setAside])
    #expect(cache.get("b") == nil)
    #expect(cache.get("c") == [3])
    try await tier.purge()
    #expect(cache.keys() == ["c"])
    #expect(tier.checkInvariants() == [])
    try await tier.close()
    let again = try openTier(scratch)
    #expect(try again.cache().invalidationVersion == 6)
    try await again.close()
  }

  @Test func `invalidations above the bound clear the partition, and the store continues to work`() async throws {
    let scratch = TemporaryDirectory()
    let failing = Switch<DiskFaults.Fault>()
    let tier = try openTier(scratch, limit: .mebibytes(1), faults: DiskFaults { failing.peek() })
    let cache = try tier.cache()
    cache.put("old", [1], tags: ["kept"])
    try await tier.flush()
    failing.set(.inputOutput)
    let bound = tier.engine.limits.invalidationBytes
    for number in 0..<bound / 96 + 2 where !cache.mustRemoveAll { _ = cache.stageInvalidation(.tag("\(number)")) }
    _ = cache.stageRemovalOfAll()
    #expect(cache.get("old") == nil)
    // The writer thread may have failed before. A flush reports that failure once, so this one always throws.
    await #expect(throws: CisternError.self) { try await tier.flush() }
    failing.set(nil)
    try await tier.purge()
    #expect(cache.keys() == [])
    cache.put("new", [2])
    try await tier.purge()
    #expect(cache.keys() == ["new"])
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test func `invalidated records are evicted first, and their eviction is not reported`() async throws {
    let scratch = TemporaryDirectory()
    let delivered = DeliveredReports()
    let tier = try openTier(scratch, limit: .mebibytes(1), delivered: delivered)
    let cache = try tier.cache(delivered: delivered)
    for number in 0..<100 { cache.put("old\(number)", value(number, size: 1000), tags: ["old"]) }
    _ = cache.stageInvalidation(.tag("old"))
    for number in 0..<2000 {
      cache.put("new\(number)", value(number, size: 1000))
      await cache.waitForRoom()
    }
    try await tier.purge()
    #expect(delivered.lostKeys.allSatisfy { $0.starts(with: bytes("new")) })
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }
}
