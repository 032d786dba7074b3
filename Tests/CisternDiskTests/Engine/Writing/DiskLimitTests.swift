import CisternTestSupport
import Locking
import Testing

@testable import CisternCore
@testable import CisternDisk

@Suite struct DiskLimitTests {
  @Test(arguments: [(256, 100), (256, 1000), (512, 5000), (1024, 1000), (1024, 40_000), (4096, 300), (4096, 20_000)])
  func `the file stays within the limit during many writes, and keeps the newest record`(
    kibibytes: Int, size: Int
  ) async throws {
    let scratch = TemporaryDirectory()
    let limit = ByteCount.kibibytes(kibibytes)
    let delivered = DeliveredReports()
    let tier = try openTier(scratch, limit: limit, delivered: delivered)
    let cache = try tier.cache(delivered: delivered)
    // Extents hold more small records below the same limit.
    let total = min(DiskLayout.tested == .ordered ? 8_000 : 14_000, 3 * limit.bytes / size + 500)
    var refused = 0
    for number in 0..<total {
      let bytes = value(number, size: size)
      if case .refused = cache.put("key-\(number &* 7919 % total)", bytes) { refused += 1 }
      if number % 64 == 0 { await cache.waitForRoom() }
      if number % 1000 == 0 { #expect(try scratch.dataFileSize <= limit.bytes) }
    }
    try await tier.flush()
    #expect(try scratch.dataFileSize <= limit.bytes)
    #expect(refused == (size + 100 > limit.bytes / 10 ? total : 0))
    #expect(delivered.lost(.notWritten).isEmpty)
    #expect(delivered.reportCodes.isEmpty)
    if refused == 0 {
      let last = total - 1
      #expect(cache.get("key-\(last &* 7919 % total)") == value(last, size: size))
      let statistics = tier.statistics
      // Records occupy at least a quarter of the limit, so eviction does not remove far more records than necessary.
      #expect(statistics.liveBytes * 4 > limit.bytes || kibibytes < 4096)
      #expect(statistics.evictions > 0)
    }
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test(arguments: [DiskLayout.ordered, .dense], [200_000, 500_000])
  func `a full file takes each record of permitted size`(layout: DiskLayout, size: Int) async throws {
    let scratch = TemporaryDirectory()
    let delivered = DeliveredReports()
    let tier = try openTier(scratch, limit: .mebibytes(4), layout: layout, delivered: delivered)
    let cache = try tier.cache(delivered: delivered)
    for number in 0..<5000 {
      cache.put("k\(number)", value(number, size: 900))
      await cache.waitForRoom()
    }
    try await tier.flush()
    for number in 0..<3 {
      cache.put("large \(number)", value(number, size: size))
      try await tier.flush()
      #expect(cache.get("large \(number)") == value(number, size: size))
    }
    #expect(delivered.lost(.notWritten).isEmpty)
    #expect(delivered.reportCodes.isEmpty)
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  /// Small transactions leave many lists of free pages, which divide these pages.
  @Test func `a full file of 64 MiB takes a record of the greatest size`() async throws {
    let scratch = TemporaryDirectory()
    let delivered = DeliveredReports()
    let tier = try openTier(scratch, limit: .mebibytes(64), layout: .ordered, delivered: delivered)
    let cache = try tier.cache(delivered: delivered)
    let small = [UInt8](repeating: 1, count: 800)
    for number in 0..<50_000 {
      // The keys come in no order.
      cache.put("k\(UInt64(number) &* 0x9E37_79B9_7F4A_7C15)", small)
      if number % 500 == 0 { try await tier.flush() }
    }
    try await tier.flush()
    let large = [UInt8](repeating: 2, count: 8_220_000)
    for number in 0..<2 {
      cache.put("large \(number)", large)
      try await tier.flush()
      #expect(cache.get("large \(number)") == large)
    }
    #expect(delivered.lost(.notWritten).isEmpty && delivered.reportCodes.isEmpty)
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  /// A longer list needs free pages in a row, which a full file of small records does not have.
  @Test(arguments: [ByteCount.mebibytes(1), .mebibytes(64), .gibibytes(1), .gibibytes(64)])
  func `LMDB's list of the pages that a transaction frees fits into a page`(limit: ByteCount) throws {
    let limits = try DiskLimits(limit, location: "")
    // Each number takes 8 bytes. The transaction also copies roots and LMDB's own tables.
    let header = 24
    #expect((limits.pagesPerTransaction + 24) * 8 + header <= 4096)
  }

  /// The pages that LMDB keeps in use can divide the free pages, although a large record needs pages in a row. Each
  /// commit moves them.
  @Test func `a record that finds no room in an empty file is tried again after some commits`() async throws {
    let scratch = TemporaryDirectory()
    let delivered = DeliveredReports()
    // The record's transaction fails seven times. The first attempt to make room commits twice, and later ones four
    // times.
    let failing = Set([0, 3] + (0..<5).map { 8 + 5 * $0 })
    let count = Guarded(-1)
    let faults = DiskFaults {
      count.withLock { count in
        guard count >= 0 else { return nil }
        count += 1
        return failing.contains(count - 1) ? .mapFull : nil
      }
    }
    let tier = try openTier(
      scratch, limit: .mebibytes(4), layout: .ordered, delivered: delivered, interval: .unreachable, faults: faults)
    let cache = try tier.cache(delivered: delivered)
    cache.put("first", value(0, size: 100))
    try await tier.flush()
    cache.remove("first")
    try await tier.flush()
    count.withLock { $0 = 0 }
    cache.put("large", value(1, size: 400_000))
    try await tier.flush()
    #expect(count.withLock { $0 } > 25)
    #expect(cache.get("large") == value(1, size: 400_000))
    #expect(delivered.lost(.notWritten).isEmpty)
    #expect(delivered.reportCodes.isEmpty)
    try await tier.close()
  }

  @Test func `a record too large for the limit is refused, and the key's older record is removed`() async throws {
    let scratch = TemporaryDirectory()
    let tier = try openTier(scratch, limit: .mebibytes(1))
    let cache = try tier.cache()
    cache.put("key", value(1, size: 100))
    try await tier.flush()
    guard case .refused = cache.put("key", value(2, size: 300_000)) else {
      Issue.record("the record was staged")
      return
    }
    #expect(cache.get("key") == nil)
    try await tier.close()
    let again = try openTier(scratch, limit: .mebibytes(1))
    #expect(try again.cache().get("key") == nil)
    try await again.close()
  }

  @Test(arguments: [4096, 8192, 16_384, 32_768])
  func `the smallest limit leaves pages for records, for every size of a page`(pageSize: Int) throws {
    let minimum = DiskLimits.minimum(pageSize: pageSize)
    let limits = try DiskLimits(minimum, pageSize: pageSize, location: "")
    #expect(limits.pageCount * pageSize == limits.mapSize)
    #expect(limits.pageCount >= 50)
    #expect(limits.lowWatermark >= 12)
    #expect(limits.highWatermark + limits.margin == limits.pageCount)
    #expect(throws: CisternError.self) {
      _ = try DiskLimits(.bytes(minimum.bytes - 1), pageSize: pageSize, location: "")
    }
  }

  @Test func `the limits count the pages of the file`() async throws {
    let scratch = TemporaryDirectory()
    let tier = try openTier(scratch)
    let file = try #require(tier.engine.file)
    #expect(try file.environment.information().pageSize == DiskLimits.pageSize)
    try await tier.close()
  }

  @Test func `writes that a removal of all voids are not in the commit group, but count as taken`() {
    let partition = Partition(name: "cache")
    var writes = StagedWrites()
    for (number, clearCount) in [(1, 0), (2, 1), (3, 0)] {
      let write = StagedWrite.removal(key: [UInt8(number)])
      _ = writes.insert(
        StagedEntry(
          write: write, ticket: CommitTicket(number: UInt64(number)),
          clearCount: ClearCount(number: UInt16(clearCount))))
    }
    let changes = PartitionChanges(
      partition: partition, clearCount: 1, clears: false, writes: [writes], links: BatchLinks())
    let group = CommitGroup(changes: [changes], through: 3)
    #expect(group.count == 1)
    #expect(group[0].entry.ticket == 2)
    #expect(group.takenCount == 3)
  }
}
