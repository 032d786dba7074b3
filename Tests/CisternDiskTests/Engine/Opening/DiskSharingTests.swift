import CisternTestSupport
import Foundation
import LMDB
import Testing

@testable import CisternCore
@testable import CisternDisk

/// Openings of a directory by several tiers, at the same time or one after the other.
@Suite struct DiskSharingTests {
  /// The settings in which the openings of a directory must agree.
  enum SharedSetting: CaseIterable, Sendable {
    case limit
    case durability
    case isReadOnly
  }

  @Test func `two tiers on one directory share it until both are closed, even with different paths`() async throws {
    let scratch = TemporaryDirectory()
    let one = try openTier(scratch)
    let two = try DiskTier(
      directory: scratch.path + "/./store/",
      options: DiskOptions(
        limit: .mebibytes(16), layout: .tested, durability: .processCrash, commitInterval: .milliseconds(1)))
    let delivered = DeliveredReports()
    let mine = try one.cache()
    let yours = try two.cache(delivered: delivered)
    mine.put("a", bytes("mine"))
    #expect(yours.get("a") == bytes("mine"))
    yours.put("a", bytes("yours"))
    #expect(mine.get("a") == bytes("yours"))
    try await one.close()
    #expect(mine.get("a") == nil)
    guard case .refused = mine.put("b", [1]) else {
      Issue.record("the write was staged after closing")
      return
    }
    await #expect(throws: CisternError.self) { try await one.flush() }
    #expect(throws: CisternError.self) { _ = try one.cache("another") }
    #expect(yours.get("a") == bytes("yours"))
    yours.put("c", bytes("c"))
    try await two.close()
    let again = try openTier(scratch)
    #expect(try again.cache().keys() == ["a", "c"])
    try await again.close()
    try await again.close()
  }

  @Test func `a reader with a smaller limit has room in its map for all that a writer can add`() async throws {
    let scratch = TemporaryDirectory()
    let writer = try openTier(scratch, limit: .mebibytes(64))
    try writer.cache().put("a", bytes("a"))
    try await writer.close()
    let reader = try openTier(scratch, limit: .mebibytes(4), isReadOnly: true)
    let mapSize = try #require(reader.engine.file).environment.options.mapSize
    #expect(try mapSize >= DiskLimits(.mebibytes(64), location: "").mapSize)
    #expect(try reader.cache().get("a") == bytes("a"))
    try await reader.close()
  }

  @Test(arguments: SharedSetting.allCases)
  func `opening an open store with another setting is refused`(changed: SharedSetting) async throws {
    let scratch = TemporaryDirectory()
    let tier = try openTier(scratch)
    let error = #expect(throws: CisternError.self) {
      _ = try openTier(
        scratch, limit: changed == .limit ? .mebibytes(17) : .mebibytes(16),
        durability: changed == .durability ? .powerCut : .processCrash, isReadOnly: changed == .isReadOnly)
    }
    #expect(error?.code == .conflictingOpen)
    try await tier.close()
    try await openTier(scratch, limit: .mebibytes(17)).close()
  }

  @Test(arguments: [nil, .dense, .ordered] as [DiskLayout?])
  func `tiers share a directory if one names the layout of the file, and the other names none`(
    first: DiskLayout?
  ) async throws {
    let scratch = TemporaryDirectory()
    func open(_ layout: DiskLayout?) throws -> DiskTier {
      try DiskTier(directory: scratch.store, options: DiskOptions(limit: .mebibytes(16), layout: layout))
    }
    let tier = try open(first)
    let present = tier.engine.layout
    for layout in [nil, present] { try await open(layout).close() }
    let error = #expect(throws: CisternError.self) { _ = try open(present == .dense ? .ordered : .dense) }
    #expect(error?.code == .conflictingOpen)
    try await tier.close()
  }

  @Test func `a released tier closes in the background and can be opened again`() async throws {
    let scratch = TemporaryDirectory()
    for round in 0..<5 {
      let tier = try openTier(scratch)
      let cache = try tier.cache()
      if round > 0 { #expect(cache.get("k\(round - 1)") == [UInt8(round)]) }
      cache.put("k\(round)", [UInt8(round + 1)])
    }
    let tier = try openTier(scratch)
    #expect(try tier.cache().keys() == ["k0", "k1", "k2", "k3", "k4"])
    try await tier.close()
  }

  @Test func `a read-only store reads, refuses writes, and changes nothing on disk`() async throws {
    let scratch = TemporaryDirectory()
    #expect(throws: CisternError.self) { _ = try openTier(scratch, isReadOnly: true) }
    let tier = try openTier(scratch)
    try tier.cache().put("a", bytes("a"))
    try tier.cache().put("b", bytes("b"))
    try await tier.close()
    let before = try Data(contentsOf: scratch.dataFile)
    let readOnly = try openTier(scratch, isReadOnly: true)
    let cache = try readOnly.cache()
    #expect(readOnly.statistics.mode == .readOnly)
    #expect(cache.get("a") == bytes("a"))
    guard case .refused = cache.put("a", bytes("new")), case .refused = cache.remove("c") else {
      Issue.record("a write was staged")
      return
    }
    // The key is absent in this opening, because memory has a newer value.
    #expect(cache.get("a") == nil)
    #expect(cache.get("b") == bytes("b"))
    try await readOnly.flush()
    _ = cache.stageRemovalOfAll()
    #expect(cache.get("b") == nil)
    try await readOnly.close()
    #expect(try Data(contentsOf: scratch.dataFile) == before)
    let again = try openTier(scratch)
    #expect(try again.cache().keys() == ["a", "b"])
    try await again.close()
  }

  @Test func `reopening with a smaller limit shrinks the file before any other operation`() async throws {
    let scratch = TemporaryDirectory()
    var tier = try openTier(scratch, limit: .mebibytes(8))
    var cache = try tier.cache()
    for number in 0..<4000 {
      cache.put("k\(number)", value(number, size: 1000))
      await cache.waitForRoom()
    }
    try await tier.flush()
    let newest = cache.get("k3999")
    #expect(newest != nil)
    try await tier.close()
    #expect(try scratch.dataFileSize > 4 << 20)
    // The remains of an interrupted copy.
    try FileManager.default.createDirectory(atPath: scratch.store + "/compact.tmp", withIntermediateDirectories: true)
    try Data(count: 100).write(to: scratch.url("store/compact.tmp/data.mdb"))

    tier = try openTier(scratch, limit: .mebibytes(2))
    #expect(try scratch.dataFileSize <= 2 << 20)
    #expect(scratch.names() == ["cistern.mark", "data.mdb", "lock.mdb"])
    cache = try tier.cache()
    #expect(cache.get("k3999") == newest)
    #expect(cache.keys().count > 300)
    #expect(tier.checkInvariants() == [])
    for number in 0..<2000 {
      cache.put("n\(number)", value(number, size: 1000))
      await cache.waitForRoom()
    }
    try await tier.flush()
    #expect(try scratch.dataFileSize <= 2 << 20)
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test func `compacting shrinks the file and keeps every record`() async throws {
    let scratch = TemporaryDirectory()
    var tier = try openTier(scratch)
    var cache = try tier.cache()
    for number in 0..<2000 { cache.put("k\(number)", value(number, size: 1000)) }
    try await tier.flush()
    for number in 100..<2000 { cache.remove("k\(number)") }
    try await tier.flush()
    let inUse = #expect(throws: CisternError.self) {
      _ = try DiskTier.compact(directory: scratch.store)
    }
    #expect(inUse?.code == .storeInUse)
    try await tier.close()
    let (before, after, _) = try DiskTier.compact(directory: scratch.store)
    #expect(after.bytes * 5 < before.bytes)
    #expect(try scratch.dataFileSize == after.bytes)
    #expect(try DiskTier.recordedLimit(in: scratch.store) == .mebibytes(16))
    tier = try openTier(scratch)
    cache = try tier.cache()
    #expect(cache.keys().count == 100)
    for number in 0..<100 { #expect(cache.get("k\(number)") == value(number, size: 1000)) }
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test
  func `opening a store with many records does not scan them, and its counts are available immediately`() async throws {
    let scratch = TemporaryDirectory()
    var tier = try openTier(scratch)
    var cache = try tier.cache()
    for number in 0..<5000 { cache.put("k\(number)", value(number, size: 10)) }
    try await tier.close()
    tier = try openTier(scratch)
    cache = try tier.cache()
    #expect(cache.statistics.entryCount == 5000)
    // Extents have shorter headers.
    #expect(cache.statistics.liveBytes > 5000 * (DiskLayout.tested == .ordered ? 40 : 30))
    #expect(tier.statistics.entryCount == 5000)
    try await tier.close()
  }
}
