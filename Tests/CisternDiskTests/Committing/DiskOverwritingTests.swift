import CisternTesting
import CisternTestSupport
import Foundation
import LMDB
import Testing

@testable import CisternCore
@testable import CisternDisk

/// Tests of the side effects of replacing and removing records.
@Suite struct DiskOverwritingTests {
  /// Returns the address of the row of counts in the memory map. A commit that changes this row or another row of its
  /// page moves it.
  func placeOfCounts(_ tier: DiskTier) throws -> UInt {
    let file = try #require(tier.engine.file)
    let partition = try #require(tier.engine.partitions.first)
    return try file.environment.withRead { (transaction) throws(LMDBError) -> UInt in
      let key = MetaTable.live(partition.generation)
      guard let row = try transaction.value(forKey: key.rawSpan, in: file.meta) else { return 0 }
      return unsafe row.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
    }
  }

  // Each commit on extents rewrites the row of the log, which is in the same page.
  @Test(.enabled(if: DiskLayout.tested == .ordered))
  func `a replacement of equal size does not rewrite the row of counts, and another replacement does`()
    async throws
  {
    let scratch = TemporaryDirectory()
    let tier = try openTier(scratch)
    let cache = try tier.cache()
    for number in 0..<10 { cache.put("k\(number)", value(number, size: 700)) }
    try await tier.flush()
    let place = try placeOfCounts(tier)
    #expect(place != 0)
    let commits = cache.statistics.commits
    for number in 10..<13 {
      cache.put("k3", value(number, size: 700))
      try await tier.flush()
      #expect(cache.get("k3") == value(number, size: 700))
      #expect(tier.engine.file?.knownTransaction.load(ordering: .relaxed).number == UInt(try lastTransaction(tier)))
    }
    #expect(cache.statistics.commits > commits)
    #expect(try placeOfCounts(tier) == place)
    cache.put("k3", value(3, size: 800))
    try await tier.flush()
    #expect(try placeOfCounts(tier) != place)
    #expect(cache.statistics.entryCount == 10)
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  func lastTransaction(_ tier: DiskTier) throws -> UInt {
    try #require(tier.engine.file).environment.information().lastTransaction
  }

  /// Changes every copy of these long values in the file, including the current one. The offset selects a byte of the
  /// value or of the record's header before it.
  func damage(_ scratch: TemporaryDirectory, _ numbers: [Int], at offset: Int) throws {
    var data = [UInt8](try Data(contentsOf: scratch.dataFile))
    let sound = numbers.map { value($0, size: 16) }
    // A record of several pages begins after the header of its first page.
    for page in stride(from: 0, to: data.count, by: DiskLimits.pageSize) {
      let start = page + 16 + RecordFormat.fixedSize
      if sound.contains(Array(data[start..<start + 16])) { data[start + offset] ^= 1 }
    }
    try Data(data).write(to: scratch.dataFile)
  }

  @Test(
    .enabled(if: DiskLayout.tested == .ordered),
    arguments: [2500, RecordFormat.sequenceOffset - RecordFormat.fixedSize, 8 - RecordFormat.fixedSize])
  func `a damaged long record is replaced, removed and purged like an undamaged one`(offset: Int) async throws {
    let scratch = TemporaryDirectory()
    var tier = try openTier(scratch)
    var cache = try tier.cache()
    for number in 0..<20 { cache.put("k\(number)", value(number, size: 5000)) }
    try await tier.close()
    try damage(scratch, [3, 4, 5], at: offset)

    tier = try openTier(scratch)
    cache = try tier.cache()
    cache.put("k3", value(100, size: 5000))
    cache.remove("k4")
    try await tier.flush()
    #expect(cache.get("k3") == value(100, size: 5000))
    #expect(cache.get("k4") == nil)
    #expect(cache.statistics.entryCount == 19)
    for number in 0..<20 where ![3, 4, 5].contains(number) {
      #expect(cache.get("k\(number)") == value(number, size: 5000))
    }
    #expect(cache.get("k5") == nil)
    _ = cache.stageRemovalOfAll()
    try await tier.purge()
    #expect(cache.statistics.entryCount == 0)
    // If the record's header is damaged, its place in the eviction order is unknown. Its entry in the order remains
    // until it is the oldest.
    if offset > 0 { #expect(tier.checkInvariants() == []) }
    try await tier.close()
  }
}
