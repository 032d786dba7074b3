import CisternTestSupport
import LMDB
import Testing

@testable import CisternCore
@testable import CisternDisk

/// A tier whose data file has its records in extents.
@Suite struct ExtentTierTests {
  private let scratch = TemporaryDirectory()
  private let told = Told()

  private func open(_ limit: ByteCount = .mebibytes(1), durability: Durability = .processCrash) throws -> DiskTier {
    try openTier(scratch, limit: limit, layout: .dense, durability: durability, told: told)
  }

  @Test(arguments: [Durability.processCrash, .powerCut])
  func `A full store keeps the newest records, and reports each that it evicts`(durability: Durability) async throws {
    var tier = try open(durability: durability)
    var cache = try tier.cache(told: told)
    for number in 0..<3000 {
      cache.put("k\(number)", value(number, size: 700))
      if number % 50 == 49 { await cache.waitForRoom() }
    }
    try await tier.flush()
    let kept = cache.keys()
    #expect(kept.count * 700 > 300_000)
    #expect((2900..<3000).allSatisfy { cache.get("k\($0)") == value($0, size: 700) })
    let evicted = Set(told.lost(.evicted).map { String(decoding: $0, as: UTF8.self) })
    #expect(kept.count + evicted.count == 3000 && kept.isDisjoint(with: evicted))
    #expect(told.reportCodes == [])
    #expect(tier.checkInvariants() == [])
    try await tier.close()
    tier = try open(durability: durability)
    cache = try tier.cache(told: told)
    #expect(cache.keys() == kept)
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test func `A batch that needs more than the free extents is whole`() async throws {
    let tier = try open()
    let cache = try tier.cache(told: told)
    for number in 0..<1500 {
      cache.put("k\(number)", value(number, size: 700))
      if number % 50 == 49 { await cache.waitForRoom() }
    }
    let batch = cache.beginBatch()
    for number in 0..<200 {
      let write = StagedWrite.record(
        key: bytes("b\(number)"), RecordMetadata(created: WallTime(nanosecondsSince1970: 1), cost: 1),
        bytes: value(number, size: 900))
      _ = cache.stage(write, in: batch)
    }
    cache.endBatch(batch)
    try await tier.flush()
    #expect((0..<200).allSatisfy { cache.get("b\($0)") == value($0, size: 900) })
    #expect(told.lost(.notWritten).isEmpty && told.reportCodes == [])
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test func `Records of any size that the limit allows are stored, and make room for each other`() async throws {
    let tier = try open()
    let cache = try tier.cache(told: told)
    for number in 0..<400 {
      let size = [10, 900, 5000, 20_000, 100_000][number % 5]
      cache.put("k\(number)", value(number, size: size))
      await cache.waitForRoom()
      if number % 20 == 19 {
        try await tier.flush()
        #expect(cache.get("k\(number)") == value(number, size: size))
      }
    }
    #expect(told.lost(.notWritten).isEmpty && told.reportCodes == [])
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test func `A reader that keeps the emptied extents is reported once, and the store goes on when it ends`()
    async throws
  {
    let reader = try await TierWithLongReader(scratch, layout: .dense, told: told, patience: .milliseconds(20))
    let (tier, cache) = (reader.tier, reader.cache)
    try await reader.fillDuringRead { held in
      #expect(held == bytes("held"))
      #expect(cache.mode == .degraded)
    }
    #expect(await told.reportCodes(atLeast: 2) == [.longReader, .degraded])
    await #expect(throws: CisternError.self) { try await tier.flush() }
    try await tier.flush()
    #expect(cache.mode == .active)
    cache.put("after", bytes("after"))
    try await tier.flush()
    #expect(cache.get("after") == bytes("after"))
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test func `A removal by tag, and one of all records, leave no record in the file`() async throws {
    let tier = try open()
    let cache = try tier.cache(told: told)
    let other = try tier.cache("other", told: told)
    for number in 0..<300 {
      cache.put("k\(number)", value(number, size: 300), tags: number % 2 == 0 ? ["even"] : [])
      other.put("k\(number)", value(number, size: 300))
    }
    try await tier.flush()
    _ = cache.stageInvalidation(.tag("even"))
    _ = other.stageRemovalOfAll()
    try await tier.purge()
    let file = try #require(tier.engine.file)
    guard case .extents(let tables) = file.layout else { return }
    func count() throws -> Int {
      try file.environment.withRead { (transaction) throws(LMDBError) in try transaction.itemCount(in: tables.index) }
    }
    while try count() > 150 { await Task.yield() }
    #expect(try count() == 150)
    #expect(cache.keys().count == 150)
    try await tier.flush()
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test(arguments: [ByteCount.kibibytes(512), .mebibytes(1), .mebibytes(64)])
  func `Another limit keeps the newest records that fit, and a compaction keeps all`(limit: ByteCount) async throws {
    var tier = try open(.mebibytes(8))
    var cache = try tier.cache(told: told)
    for number in 0..<4000 {
      cache.put("k\(number)", value(number, size: 700))
      if number % 50 == 49 { await cache.waitForRoom() }
    }
    try await tier.close()
    tier = try open(limit)
    cache = try tier.cache(told: told)
    let kept = cache.keys()
    // The keys of a commit have no order of age.
    #expect(kept.count * 700 > min(limit.bytes / 8, 4000 * 600) && kept.contains("k3999"), "\(kept.count)")
    #expect(tier.checkInvariants() == [])
    try await tier.close()
    let sizes = try DiskTier.compact(directory: scratch.store)
    #expect(sizes.after <= sizes.before)
    tier = try open(limit)
    cache = try tier.cache(told: told)
    #expect(cache.keys() == kept)
    #expect(kept.allSatisfy { cache.get($0)?.count == 700 })
    cache.put("new", bytes("new"))
    try await tier.flush()
    #expect(cache.get("new") == bytes("new"))
    #expect(tier.checkInvariants() == [])
    try await tier.close()
    #expect(told.reportCodes == [])
  }
}
