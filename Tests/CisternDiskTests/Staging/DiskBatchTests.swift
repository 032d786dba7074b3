import CisternTestSupport
import Locking
import Testing

@testable import CisternCore
@testable import CisternDisk

/// A batch is committed in one transaction, even if it is mixed with other writes.
@Suite struct DiskBatchTests {
  @Test func `after every commit, a batch is in the file either completely or not at all`() async throws {
    let scratch = TemporaryDirectory()
    let copies = Copies(of: scratch)
    // A batch needs more pages than a transaction usually changes. Other writes replace parts of the batch, and cause
    // evictions.
    let tier = try openTier(
      scratch, limit: .mebibytes(1), interval: .unreachable, faults: DiskFaults(atCommit: copies.take))
    let cache = try tier.cache()
    #expect(tier.engine.limits.pagesPerTransaction < 10)
    for number in 1...60 {
      let batch = cache.beginBatch()
      for slot in 0..<10 {
        let bytes = Array("\(number):".utf8) + [UInt8](repeating: 1, count: slot * 300)
        _ = cache.stage(write(slot + (number % 2 == 1 ? 0 : 5), bytes), in: batch)
      }
      cache.endBatch(batch)
      // A later single write of one of the batch's keys becomes a part of the batch.
      let again = number % 2 == 1 ? 3 : 12
      _ = cache.stage(write(again, Array("\(number):again".utf8)))
      for other in 0..<10 { _ = cache.stage(write(100 + (number * 10 + other) % 200, value(other, size: 800))) }
      if number % 3 == 0 { try await tier.flush() }
    }
    try await tier.flush()
    expectWholeBatches(in: cache, notBefore: 60)
    #expect(tier.checkInvariants() == [])
    try await tier.close()
    // Each flush commits at least once.
    #expect(copies.count >= 20)
    for copy in 0..<copies.count {
      let crashed = try openTier(copies.scratch(copy), limit: .mebibytes(1))
      try expectWholeBatches(in: crashed.cache(), notBefore: 0, "after \(copy) commits")
      #expect(crashed.checkInvariants() == [])
      try await crashed.close()
    }
  }

  private func write(_ key: Int, _ bytes: [UInt8]) -> StagedWrite {
    let cache = [UInt8]("key-\(key)".utf8)
    return .record(key: cache, RecordMetadata(created: WallTime(nanosecondsSince1970: 1), cost: 1), bytes: bytes)
  }

  @Test func `a batch that fails to commit is lost completely, and its losses are reported`() async throws {
    let scratch = TemporaryDirectory()
    let delivered = DeliveredReports()
    let failing = Switch<DiskFaults.Fault>()
    let tier = try openTier(
      scratch, limit: .mebibytes(1), delivered: delivered, interval: .unreachable,
      faults: DiskFaults { failing.peek() })
    let cache = try tier.cache(delivered: delivered)
    for key in 0..<10 { _ = cache.stage(write(key, bytes("old:"))) }
    try await tier.flush()
    failing.set(.inputOutput)
    let batch = cache.beginBatch()
    for key in 0..<10 { _ = cache.stage(write(key, bytes("new:")), in: batch) }
    let ticket = cache.endBatch(batch)
    await #expect(throws: CisternError.self) { try await cache.waitForCommit(ticket) }
    #expect(delivered.lost(.notWritten).count == 10)
    #expect(cache.mode(in: batch) == .active)
    // A batch that begins while the disk fails is refused, and the older records are removed.
    let late = cache.beginBatch()
    #expect(cache.mode(in: late) == .degraded)
    failing.set(nil)
    for key in 5..<8 {
      guard case .refused = cache.stage(write(key, bytes("late:")), in: late) else {
        Issue.record("the write was staged")
        return
      }
    }
    try await cache.waitForCommit(cache.endBatch(late))
    #expect(tier.statistics.mode == .active && cache.mode(in: late) == .degraded)
    #expect(cache.keys() == [])
    #expect(tier.checkInvariants() == [])
    // The refused writes are not on disk, so the next flush or close throws an error.
    await #expect(throws: CisternError.self) { try await tier.close() }
  }

  @Test
  func `batches that cannot be one commit are rejected in advance, and accepted batches are committed`() async throws {
    for limit in [ByteCount.kibibytes(256), .mebibytes(1), .mebibytes(64), .gibibytes(64)] {
      let limits = try DiskLimits(limit, location: "")
      #expect(limits.canHold(batchBytes: 0, count: 0))
      #expect(limits.canHold(batchBytes: 2000, count: 2))
      #expect(!limits.canHold(batchBytes: limits.mapSize, count: 1))
      #expect(!limits.canHold(batchBytes: limits.mapSize / 4 + 1, count: 2))
      #expect(!limits.canHold(batchBytes: limits.mapSize / 8 + 1, count: 1))
      #expect(!limits.canHold(batchBytes: 0, count: limits.mapSize / 60))
      #expect(!limits.canHold(batchBytes: .max, count: .max))
      #expect(!limits.canHold(batchBytes: -1, count: 1))
    }
    let scratch = TemporaryDirectory()
    let delivered = DeliveredReports()
    let tier = try openTier(scratch, limit: .mebibytes(1), delivered: delivered)
    let cache = try tier.cache(delivered: delivered)
    // Fills the store, and then commits large batches that are accepted.
    for number in 0..<1000 {
      cache.put("k\(number)", value(number, size: 1000))
      await cache.waitForRoom()
    }
    for (count, size) in [(1, 100_000), (8, 6000), (12, 1000), (3, 30_000)] {
      #expect(cache.canHold(batchBytes: count * (size + 10), count: count))
      let batch = cache.beginBatch()
      for number in 0..<count { _ = cache.stage(write(number, value(number, size: size)), in: batch) }
      try await cache.waitForCommit(cache.endBatch(batch))
      for number in 0..<count { #expect(cache.get("key-\(number)") == value(number, size: size)) }
    }
    #expect(delivered.lost(.notWritten) == [])
    #expect(delivered.reportCodes == [])
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test(arguments: [1, 8], [8, 300, 1500, 3000, 20_000])
  func `the largest accepted batch is committed in a full store, and again over its own records`(
    mebibytes: Int, size: Int
  ) async throws {
    let scratch = TemporaryDirectory()
    let delivered = DeliveredReports()
    let limit = ByteCount.mebibytes(mebibytes)
    let tier = try openTier(scratch, limit: limit, delivered: delivered)
    let cache = try tier.cache(delivered: delivered)
    for number in 0..<limit.bytes / 700 {
      cache.put("k\(number &* 7919 % 100_003)", value(number, size: 500))
      await cache.waitForRoom()
    }
    // The size that the cache counts for each record, and the largest accepted number of records.
    let each = write(10_000, value(0, size: size)).stagedSize
    var count = 2
    while cache.canHold(batchBytes: (count + 1) * each, count: count + 1) { count += 1 }
    #expect(count * each > tier.engine.limits.mapSize / (size > 1900 ? 8 : 5))
    for round in 0..<2 {
      let batch = cache.beginBatch()
      for number in 0..<count { _ = cache.stage(write(number * 7, value(number + round, size: size)), in: batch) }
      try await cache.waitForCommit(cache.endBatch(batch))
      try await tier.flush()
      let whole = (0..<count).allSatisfy { cache.get("key-\($0 * 7)") == value($0 + round, size: size) }
      #expect(whole)
    }
    #expect(delivered.lost(.notWritten) == [])
    #expect(delivered.reportCodes == [])
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test(arguments: [true, false])
  func `overlapping batches that are too large together are refused together, and other writes are committed`(
    isOverWhenFlushed: Bool
  ) async throws {
    let scratch = TemporaryDirectory()
    let delivered = DeliveredReports()
    let tier = try openTier(scratch, limit: .mebibytes(4), delivered: delivered, interval: .unreachable)
    let cache = try tier.cache(delivered: delivered)
    cache.put("kept", [1])
    try await tier.flush()
    // All batches are open at the same time, so that none can be committed before the others.
    let batches = (0..<40).map { _ in cache.beginBatch() }
    for (number, batch) in batches.enumerated() {
      for key in 0...10 { _ = cache.stage(write(number * 10 + key, value(key, size: 6000)), in: batch) }
    }
    // No commit begins while a batch is open, so this write is in the same commit group.
    cache.put("other", [2])
    for batch in batches { cache.endBatch(batch) }
    if isOverWhenFlushed {
      let newest = tier.engine.newestTicket
      while tier.engine.progress.withLock({ $0.durable }) < newest { await Task.yield() }
    }
    _ = try? await tier.flush()
    let present = (0..<401).count { cache.get("key-\($0)") != nil }
    #expect(present == 0)
    #expect(delivered.lost(.notWritten).count == 401)
    // The store stays active, and reports the refused writes.
    #expect(delivered.reportCodes == [.refused])
    try await tier.flush()
    #expect(cache.keys() == ["kept", "other"])
    #expect(tier.statistics.mode == .active)
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test(arguments: [false, true])
  func `a wait for a batch throws if the batch is given up, even if its newest write was replaced or removed since`(
    isRemoved: Bool
  ) async throws {
    let scratch = TemporaryDirectory()
    let tier = try openTier(scratch, limit: .mebibytes(4), interval: .unreachable)
    let (one, two) = (try tier.cache("one"), try tier.cache("two"))
    // The batches overlap, and are too large together. None can be committed while one is open.
    let batches = (0..<40).map { _ in tier.beginBatch() }
    let small = tier.beginBatch()
    for (number, batch) in batches.enumerated() {
      for key in 0...10 { _ = one.stage(write(number * 10 + key, value(key, size: 6000)), in: batch) }
      _ = isRemoved ? two.stage(write(number, [1]), in: batch) : one.stage(write(number * 10 + 10, [1]), in: batch)
    }
    if isRemoved { _ = two.stageRemovalOfAll() }
    _ = one.stage(write(1000, [1]), in: small)
    for number in 0..<40 where !isRemoved { _ = one.stage(write(number * 10 + 10, [2])) }
    let tickets = batches.map { tier.endBatch($0) }
    let kept = tier.endBatch(small)
    for (number, ticket) in tickets.enumerated() {
      await #expect(throws: CisternError.self, "batch \(number)") { try await tier.waitForCommit(ticket) }
    }
    try await tier.waitForCommit(kept)
    #expect(one.get("key-1000") == [1])
    #expect((0..<401).count { one.get("key-\($0)") != nil } == 0)
    // The next flush throws for the lost writes.
    _ = try? await tier.flush()
    try await tier.close()
  }

  @Test func `a wait for an empty batch returns, and a closed or read-only store refuses a batch`() async throws {
    let scratch = TemporaryDirectory()
    let tier = try openTier(scratch)
    let cache = try tier.cache()
    try await cache.waitForCommit(cache.endBatch(cache.beginBatch()))
    cache.put("a", [1])
    try await tier.close()
    let closed = cache.beginBatch()
    guard case .refused = cache.stage(write(1, [1]), in: closed) else {
      Issue.record("the write was staged after closing")
      return
    }
    cache.endBatch(closed)
    let readOnly = try openTier(scratch, isReadOnly: true)
    let view = try readOnly.cache()
    #expect(view.get("a") == [1])
    let batch = view.beginBatch()
    guard case .refused = view.stage(.removal(key: bytes("a")), in: batch) else {
      Issue.record("the write was staged in a read-only store")
      return
    }
    let error = await #expect(throws: CisternError.self) { try await view.waitForCommit(view.endBatch(batch)) }
    #expect(error?.code == .readOnly)
    #expect(view.get("a") == nil)
    try await readOnly.close()
  }
}
