import CisternTestSupport
import Foundation
import LMDB
import Testing

@testable import CisternCore
@testable import CisternDisk

/// Compactions of files that can hardly become smaller.
@Suite struct DiskCompactingTests {
  private let scratch = TemporaryDirectory()
  private let delivered = DeliveredReports()

  private func open(_ limit: ByteCount, _ layout: DiskLayout = .dense) throws -> DiskTier {
    try openTier(scratch, limit: limit, layout: layout, durability: .processCrash, delivered: delivered)
  }

  /// With extents of another size, values of these sizes would lie in extents, and waste their ends.
  @Test(arguments: [65_000, 66_000, 120_000])
  func `a compaction of an almost full file keeps every value`(size: Int) async throws {
    let limit = ByteCount.mebibytes(64)
    var tier = try open(limit)
    var cache = try tier.cache()
    for number in 0..<(60_500_000 / size) {
      cache.put("k\(number)", value(number, size: size))
      if number % 20 == 19 { try await tier.flush() }
    }
    try await tier.flush()
    let keys = cache.keys()
    #expect(cache.statistics.entryCount == keys.count)
    try await tier.close()
    let result = try DiskTier.compact(directory: scratch.store)
    #expect(result.after <= result.before && result.damagedCount == 0)
    tier = try open(limit)
    cache = try tier.cache()
    #expect(cache.keys() == keys)
    #expect(tier.checkInvariants() == [])
    try await tier.close()
    #expect(delivered.reportCodes == [])
  }

  @Test(arguments: [ByteCount.mebibytes(16), .mebibytes(32), .mebibytes(64)], [DiskLayout.dense, .ordered])
  func `a compaction makes no file larger, and a second one changes nothing`(
    limit: ByteCount, layout: DiskLayout
  ) async throws {
    for (count, size) in [(1, 100), (200, 1000), (100, 20_000)] {
      var tier = try open(limit, layout)
      var cache = try tier.cache()
      _ = cache.stageRemovalOfAll()
      for number in 0..<count { cache.put("k\(number)", value(number, size: size)) }
      try await tier.close()
      let first = try DiskTier.compact(directory: scratch.store)
      #expect(first.after <= first.before, "\(count) of \(size) bytes")
      let second = try DiskTier.compact(directory: scratch.store)
      #expect(second.after <= first.after, "\(count) of \(size) bytes")
      tier = try open(limit, layout)
      cache = try tier.cache()
      #expect(cache.keys().count == count)
      for number in 0..<count { #expect(cache.get("k\(number)") == value(number, size: size)) }
      #expect(tier.checkInvariants() == [])
      try await tier.close()
    }
  }

  @Test func `a compaction ends the invalidations of a cache without records`() async throws {
    let tier = try openTier(scratch)
    let cache = try tier.cache()
    cache.put("k", bytes("value"))
    try await tier.flush()
    _ = cache.stageRemovalOfAll()
    _ = cache.stageInvalidation(.tag("tag"))
    try await tier.close()
    _ = try DiskTier.compact(directory: scratch.store)
    let limits = try DiskLimits(.mebibytes(16), location: "")
    let opening = DiskOpening(directory: scratch.store, options: DiskOptions(limit: .mebibytes(16)), limits: limits)
    let file = try DiskFile.open(
      directory: scratch.store, options: opening.environmentOptions(), layout: .only(.tested))
    let pending = try file.environment.withRead { (transaction) throws(LMDBError) in
      try transaction.invalidationRows(of: "cache", endedAfter: .max, in: file.meta).inForce.count
    }
    #expect(pending == 0)
    try file.close()
  }

  @Test(arguments: [DiskLayout.dense, .ordered])
  func `a compaction refuses a file with a damaged number of a cleared cache, and changes nothing`(
    layout: DiskLayout
  ) async throws {
    let tier = try open(.mebibytes(16), layout)
    try tier.cache().put("k", bytes("value"))
    try await tier.close()
    let environment = DiskOpening(
      directory: scratch.store, options: DiskOptions(limit: .mebibytes(16)),
      limits: try DiskLimits(.mebibytes(16), location: "")
    ).environmentOptions()
    let file = try DiskFile.open(directory: scratch.store, options: environment, layout: .only(layout))
    try file.environment.withWrite { (transaction) throws(LMDBError) in
      // The checksum is that of another number. No cache has a number of more than 48 bits.
      let row = MetaTable.sealed(MetaTable.value(UInt64(0)), under: MetaTable.dead(Generation(number: 1)))
      let key = MetaTable.dead(Generation(number: 1 << 63))
      try transaction.put(row.rawSpan, forKey: key.rawSpan, in: file.meta)
    }
    try file.close()
    let former = try Data(contentsOf: scratch.dataFile)
    let error = #expect(throws: CisternError.self) { _ = try DiskTier.compact(directory: scratch.store) }
    #expect(error?.code == .diskFailed)
    #expect(try Data(contentsOf: scratch.dataFile) == former)
  }
}
