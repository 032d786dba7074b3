import CisternTestSupport
import Foundation
import LMDB
import Testing

@testable import CisternCore
@testable import CisternDisk

/// Opening a store with a smaller limit than it was filled with.
@Suite struct DiskShrinkingTests {
  /// The bytes of records that fit below a limit, if each has this size: what eviction leaves of its pages, but for
  /// those of the tables themselves.
  private func room(below limit: ByteCount, size: Int) throws -> Int {
    // Of few extents, the reserve and the open ones are a large part. The layout is offered only from larger limits on.
    if DiskLayout.tested == .dense { return limit < .mebibytes(1) ? 0 : limit.bytes / 4 }
    let limits = try DiskLimits(limit, location: "")
    // A record has a header, and a small one its key beside it.
    let shared = 4080 / (size + 64)
    // Beside small records their order counts.
    let pages = (size < 500 ? limits.lowWatermark * 3 / 4 : limits.lowWatermark * 9 / 10) - 10
    return shared > 1 ? pages * shared * size : pages / ((size + 48 + 4095) / 4096) * size
  }

  /// The keys, the newest record's first. Within a commit, the newest is that of the greatest key.
  private func keysByAge(of tier: DiskTier) throws -> [[UInt8]] {
    let file = try #require(tier.engine.file)
    switch file.layout {
    case .ordered(let tables):
      return try file.environment.withRead { (transaction) throws(LMDBError) in
        var keys: [[UInt8]] = []
        var cursor = try transaction.cursor(in: tables.order)
        while try cursor.moveToPrevious() {
          if let value = cursor.value, let key = DiskKey(value) { keys.append(key.directKey) }
        }
        return keys
      }
    case .dense(let tables):
      let records = try AgedRecords(of: file, tables, bytes: .max, in: tables.limits.layout, largestRecord: .max)
      return try file.environment.withRead { (transaction) throws(LMDBError) in
        var keys: [[UInt8]] = []
        for entry in records.entries.reversed() {
          guard let record = try tables.bytes(at: entry.address, in: transaction),
            let header = PackedHeader(record, at: entry.address)
          else { continue }
          keys.append(record.extracting(header.key).copiedBytes())
        }
        return keys
      }
    }
  }

  /// Writes values under keys whose order is not that of their age.
  private func fill(_ cache: any TransactionalPartition, _ filling: (size: Int, count: Int)) async {
    for number in 0..<filling.count {
      cache.put("k\(number &* 7919 % 100_003)", value(number, size: filling.size))
      await cache.waitForRoom()
    }
  }

  @Test(arguments: [(100, 20_000), (1000, 4000), (1000, 40_000), (1400, 4000), (3000, 2000), (20_000, 300)])
  func `an opening with a smaller limit succeeds, and keeps the newest records that fit`(
    filling: (size: Int, count: Int)
  ) async throws {
    let full = TemporaryDirectory()
    let tier = try openTier(full)
    let cache = try tier.cache()
    await fill(cache, filling)
    try await tier.flush()
    let keys = try keysByAge(of: tier)
    let values = keys.map { cache.get($0) }
    try await tier.close()
    for limit in [ByteCount.kibibytes(256), .mebibytes(1), .mebibytes(3)] {
      let scratch = TemporaryDirectory()
      try FileManager.default.copyItem(atPath: full.store, toPath: scratch.store)
      try await shrink(scratch, to: limit, size: filling.size, keys: keys, values: values)
    }
  }

  /// Opens a store of records of one size with a smaller limit, and writes to it.
  private func shrink(
    _ scratch: TemporaryDirectory, to limit: ByteCount, size: Int, keys: [[UInt8]], values: [[UInt8]?]
  ) async throws {
    let delivered = DeliveredReports()
    let tier = try openTier(scratch, limit: limit, delivered: delivered)
    #expect(try scratch.dataFileSize <= limit.bytes)
    #expect(delivered.reportCodes == [])
    let cache = try tier.cache()
    let kept = try keysByAge(of: tier)
    #expect(kept == Array(keys.prefix(kept.count)))
    #expect(kept.map { cache.get($0) } == Array(values.prefix(kept.count)))
    #expect(cache.statistics.entryCount == kept.count)
    let room = try room(below: limit, size: size)
    #expect(kept.count == keys.count || kept.count * size >= room, "\(limit): \(kept.count) are kept")
    #expect(tier.checkInvariants() == [])

    for number in 0..<1000 {
      cache.put("n\(number)", value(number, size: 500))
      await cache.waitForRoom()
    }
    try await tier.flush()
    #expect(cache.get("n999") == value(999, size: 500))
    #expect(try scratch.dataFileSize <= limit.bytes)
    #expect(delivered.reportCodes == [])
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  /// Large records come and go while small ones fill an extent. The age of the first of them says nothing about the
  /// newest. The largest ones are almost an eighth of the limit.
  @Test(
    arguments: [
      (former: ByteCount.mebibytes(16), large: 40_000), (.mebibytes(4), 40_000), (.mebibytes(16), 450_000),
    ], DiskLayout.both)
  func `of small and large records, the newest are kept`(
    filling: (former: ByteCount, large: Int), layout: DiskLayout
  ) async throws {
    let scratch = TemporaryDirectory()
    var tier = try openTier(scratch, limit: filling.former, layout: layout)
    var cache = try tier.cache()
    let keys = 0..<max(24_000_000 / filling.large, 80)
    func size(of number: Int) -> Int { number % 2 == 0 ? filling.large : 300 }
    for number in keys {
      cache.put("k\(number)", value(number, size: size(of: number)))
      if number % 2 == 1 { try await tier.flush() }
    }
    try await tier.close()
    tier = try openTier(scratch, limit: .mebibytes(4), layout: layout)
    cache = try tier.cache()
    let kept = keys.filter { cache.get("k\($0)") == value($0, size: size(of: $0)) }
    let oldestLarge = try #require(kept.first { $0 % 2 == 0 })
    #expect(oldestLarge > keys.count * 2 / 3)
    let missing = keys.filter { $0 > oldestLarge && !kept.contains($0) }
    #expect(missing == [])
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  /// The copy's pages are full, and eviction in the order of age only thins them out: few become free.
  @Test(
    arguments: [(1400, 4000), (1300, 4000), (1900, 3000), (700, 8000)],
    [(limit: ByteCount.mebibytes(1), size: 500), (.mebibytes(3), 500)])
  func `commits of any size succeed after it, wherever their keys lie`(
    filling: (size: Int, count: Int), next: (limit: ByteCount, size: Int)
  ) async throws {
    let scratch = TemporaryDirectory()
    var tier = try openTier(scratch)
    var cache = try tier.cache()
    await fill(cache, filling)
    try await tier.close()

    let delivered = DeliveredReports()
    // Commits at a flush alone, so that each round has as many writes as may be staged.
    tier = try openTier(scratch, limit: next.limit, delivered: delivered, interval: .unreachable)
    cache = try tier.cache()
    let limits = tier.engine.limits
    let perRound = max(1, limits.stagedBytes / (next.size + 64))
    let count = next.limit.bytes / next.size
    for number in 0..<count {
      cache.put("k\((number &* 104_729) % 1_000_003)", value(number, size: next.size))
      if number % perRound == 0 { try await tier.flush() }
    }
    try await tier.flush()
    #expect(delivered.reportCodes == [])
    #expect(delivered.losses.withLock { $0.allSatisfy { $0.cause == .evicted } })
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test func `removed and invalidated records stay absent, and each cache keeps its part and its tags`() async throws {
    let scratch = TemporaryDirectory()
    var tier = try openTier(scratch)
    let long = [UInt8](repeating: 7, count: 100)
    let one = try tier.cache("one")
    let two = try tier.cache("two")
    let three = try tier.cache("three")
    for number in 0..<5000 {
      one.put("k\(number)", value(number, size: 700), tags: number % 2 == 0 ? ["even"] : ["odd"])
      two.put("k\(number)", value(number, size: 300))
      three.put("k\(number)", [1])
      await one.waitForRoom()
    }
    one.put(long, [7])
    try await tier.flush()
    _ = three.stageRemovalOfAll()
    three.put("after", [3])
    _ = one.stageInvalidation(.tag("even"))
    two.remove("k4999")
    let invalidationVersion = one.invalidationVersion
    try await tier.close()

    tier = try openTier(scratch, limit: .mebibytes(1))
    let (first, second, third) = (try tier.cache("one"), try tier.cache("two"), try tier.cache("three"))
    #expect(first.invalidationVersion == invalidationVersion)
    #expect(third.keys() == ["after"])
    #expect(third.statistics.entryCount == 1)
    #expect(second.get("k4999") == nil)
    #expect(second.get("k4998") == value(4998, size: 300))
    #expect(first.get("k4999") == value(4999, size: 700))
    #expect(first.get("k4998") == nil)
    #expect(first.get(long) == [7])
    let held = first.keys().count
    #expect(held > 100)
    try await tier.purge()
    #expect(first.statistics.entryCount == held)
    _ = first.stageInvalidation(.tag("odd"))
    #expect(first.keys() == [String(decoding: long, as: UTF8.self)])
    try await tier.purge()
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test func `one that is larger than the new limit allows is left out, and older ones stay`() async throws {
    let scratch = TemporaryDirectory()
    var tier = try openTier(scratch)
    var cache = try tier.cache()
    for number in 0..<100 { cache.put("k\(number)", value(number, size: 3000)) }
    try await tier.flush()
    for number in 0..<4 { cache.put("large\(number)", value(number, size: 1_500_000)) }
    try await tier.close()
    tier = try openTier(scratch, limit: .mebibytes(1))
    cache = try tier.cache()
    #expect(cache.keys().count == 100)
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }
}
