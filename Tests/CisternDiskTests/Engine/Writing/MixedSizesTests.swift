import CisternTestSupport
import CisternTesting
import Testing

@testable import CisternCore
@testable import CisternDisk

/// Dense files with records in extents and with separate ones, which compete for the pages of the map.
@Suite struct MixedSizesTests {
  let scratch = TemporaryDirectory()
  let delivered = DeliveredReports()

  func open(_ limit: ByteCount, durability: Durability = .processCrash) throws -> DiskTier {
    try openTier(scratch, limit: limit, layout: .dense, durability: durability, delivered: delivered)
  }

  /// The number of bytes of the readable values. A look-up would count as a use.
  func bytesHeld(_ cache: any TransactionalPartition) -> Int {
    var bytes = 0
    cache.forEachRecord { _, metadata, _ in
      bytes += Int(metadata.cost)
      return true
    }
    return bytes
  }

  func put(_ key: String, _ number: Int, size: Int, in cache: any TransactionalPartition) {
    let metadata = RecordMetadata(created: WallTime(nanosecondsSince1970: 1), cost: UInt32(size))
    _ = cache.stage(.record(key: bytes(key), metadata, bytes: value(number, size: size)))
  }

  @Test(arguments: [(4, 500_000, 20, 2000), (16, 1_000_000, 24, 5000)])
  func `small records evict only as many large ones as they need room`(
    mebibytes: Int, size: Int, large: Int, small: Int
  ) async throws {
    let tier = try open(.mebibytes(mebibytes))
    let cache = try tier.cache(delivered: delivered)
    for number in 0..<large {
      put("large \(number)", number, size: size, in: cache)
      try await tier.flush()
    }
    for number in 0..<small {
      put("small \(number)", number, size: 1000, in: cache)
      if number % 50 == 49 { try await tier.flush() }
    }
    let present = (0..<small).filter { number in
      let key = bytes("small \(number)")
      return cache.contains(key.rawSpan)
    }
    #expect(present.count == small)
    #expect(bytesHeld(cache) > (mebibytes << 20) * 6 / 10, "\(bytesHeld(cache))")
    #expect(delivered.reportCodes == [] && delivered.lost(.notWritten) == [])
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test func `single durable writes keep the file full`() async throws {
    let tier = try open(.mebibytes(4), durability: .powerCut)
    let cache = try tier.cache(delivered: delivered)
    var generator = SeededGenerator(seed: 7)
    for number in 0..<2500 {
      let key = "k\(Int.random(in: 0..<1400, using: &generator))"
      put(key, number, size: 3000, in: cache)
      try await tier.flush()
      #expect(cache.get(key) == value(number, size: 3000))
    }
    // A commit for each write, and few others.
    #expect(tier.statistics.commits < 5000)
    #expect(bytesHeld(cache) > 4 << 19, "\(bytesHeld(cache))")
    #expect(delivered.reportCodes == [] && delivered.lost(.notWritten) == [])
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test(arguments: [Durability.processCrash, .powerCut])
  func `overwrites of large values keep the file full`(durability: Durability) async throws {
    let tier = try open(.mebibytes(16), durability: durability)
    let cache = try tier.cache(delivered: delivered)
    var generator = SeededGenerator(seed: 3)
    for number in 0..<600 {
      put("k\(number < 300 ? number : Int.random(in: 0..<300, using: &generator))", number, size: 100_000, in: cache)
      await cache.waitForRoom()
    }
    try await tier.flush()
    #expect(bytesHeld(cache) > (16 << 20) * 8 / 10, "\(bytesHeld(cache))")
    #expect(delivered.reportCodes == [] && delivered.lost(.notWritten) == [])
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test func `a full file of small extents makes room for a large value`() async throws {
    let tier = try open(.mebibytes(4))
    let cache = try tier.cache(delivered: delivered)
    for number in 0..<5000 {
      put("small \(number)", number, size: 1000, in: cache)
      if number % 100 == 0 { await cache.waitForRoom() }
    }
    try await tier.flush()
    for clears in [false, true] {
      if clears { _ = cache.stageRemovalOfAll() }
      for number in 0..<4 {
        put("large \(number)", number, size: 510_000, in: cache)
        try await tier.flush()
        #expect(cache.get("large \(number)") == value(number, size: 510_000))
      }
      for number in 0..<3000 { put("small \(number)", number, size: 1000, in: cache) }
      try await tier.flush()
    }
    #expect(delivered.reportCodes == [] && delivered.lost(.notWritten) == [])
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test(arguments: [(8, 4, 5000), (16, 4, 5000), (8, 5, 8200), (8, 4, 100_000), (8, 4, 900)])
  func `a smaller limit keeps the newest records that fit`(from: Int, to: Int, size: Int) async throws {
    var tier = try open(.mebibytes(from))
    var cache = try tier.cache(delivered: delivered)
    let count = (from << 20) / size
    for number in 0..<count {
      put("k\(number)", number, size: size, in: cache)
      await cache.waitForRoom()
    }
    try await tier.close()
    tier = try open(.mebibytes(to))
    cache = try tier.cache(delivered: delivered)
    #expect(bytesHeld(cache) > (to << 20) * 4 / 10, "\(bytesHeld(cache))")
    #expect(cache.get("k\(count - 1)") == value(count - 1, size: size))
    #expect(delivered.reportCodes == [])
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }
}
