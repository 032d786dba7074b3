import CisternTestSupport
import CisternTesting
import LMDB
import Locking
import Testing

@testable import CisternCore
@testable import CisternDisk

/// A tier whose data file has its records in extents.
@Suite struct ExtentTierTests {
  private let scratch = TemporaryDirectory()
  private let delivered = DeliveredReports()

  private func open(_ limit: ByteCount = .mebibytes(1), durability: Durability = .processCrash) throws -> DiskTier {
    try openTier(scratch, limit: limit, layout: .dense, durability: durability, delivered: delivered)
  }

  @Test(arguments: [Durability.processCrash, .powerCut])
  func `a full store keeps the newest records, and reports each that it evicts`(durability: Durability) async throws {
    var tier = try open(durability: durability)
    var cache = try tier.cache(delivered: delivered)
    for number in 0..<3000 {
      cache.put("k\(number)", value(number, size: 700))
      if number % 50 == 49 { await cache.waitForRoom() }
    }
    try await tier.flush()
    let kept = cache.keys()
    #expect(kept.count * 700 > 300_000)
    #expect((2900..<3000).allSatisfy { cache.get("k\($0)") == value($0, size: 700) })
    let evicted = Set(delivered.lost(.evicted).map { String(decoding: $0, as: UTF8.self) })
    #expect(kept.count + evicted.count == 3000 && kept.isDisjoint(with: evicted))
    #expect(delivered.reportCodes == [])
    #expect(tier.checkInvariants() == [])
    try await tier.close()
    tier = try open(durability: durability)
    cache = try tier.cache(delivered: delivered)
    #expect(cache.keys() == kept)
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test func `a batch that needs more than the free extents is whole`() async throws {
    let tier = try open()
    let cache = try tier.cache(delivered: delivered)
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
    #expect(delivered.lost(.notWritten).isEmpty && delivered.reportCodes == [])
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test func `records of any size that the limit allows are stored, and make room for each other`() async throws {
    let tier = try open()
    let cache = try tier.cache(delivered: delivered)
    for number in 0..<400 {
      let size = [10, 900, 5000, 20_000, 100_000][number % 5]
      cache.put("k\(number)", value(number, size: size))
      await cache.waitForRoom()
      if number % 20 == 19 {
        try await tier.flush()
        #expect(cache.get("k\(number)") == value(number, size: size))
      }
    }
    #expect(delivered.lost(.notWritten).isEmpty && delivered.reportCodes == [])
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test(arguments: [false, true]) func `a long reader stops no write while the file has room`(inBatches: Bool)
    async throws
  {
    // Few commits, each of which copies some pages that the reader keeps.
    let tier = try openTier(
      scratch, limit: .mebibytes(32), layout: .dense, durability: .processCrash, delivered: delivered,
      interval: .milliseconds(50)
    )
    let cache = try tier.cache(delivered: delivered)
    cache.put("held", bytes("held"))
    try await tier.flush()
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      do {
        // The read is on a thread, because the tasks of the pool must not wait for it.
        try SystemThread.start {
          let key = bytes("held")
          cache.withRecord(forKey: key.rawSpan) { _, _ in overwrite(cache, inBatches: inBatches) }
          continuation.resume()
        }
      } catch {
        continuation.resume(throwing: error)
      }
    }
    try await tier.flush()
    #expect(delivered.reportCodes == [] && cache.mode == .active)
    for number in 2000..<2400 { #expect(cache.get("k\(number % 400)") == value(number, size: 1000)) }
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  /// Writes 400 keys six times, so that the file needs further extents.
  private func overwrite(_ cache: any TransactionalPartition, inBatches: Bool) {
    for first in stride(from: 0, to: 2400, by: 20) {
      let batch = inBatches ? cache.beginBatch() : nil
      for number in first..<first + 20 {
        let write = StagedWrite.record(
          key: bytes("k\(number % 400)"), RecordMetadata(created: WallTime(nanosecondsSince1970: 1), cost: 1),
          bytes: value(number, size: 1000))
        _ = batch.map { cache.stage(write, in: $0) } ?? cache.stage(write)
      }
      if let batch { cache.endBatch(batch) }
      cache.waitForRoom()
    }
  }

  @Test func `a reader that keeps the emptied extents is reported once, and the store goes on when it ends`()
    async throws
  {
    let reader = try await TierWithLongReader(
      scratch, layout: .dense, delivered: delivered, patience: .milliseconds(20))
    let (tier, cache) = (reader.tier, reader.cache)
    try await reader.fillDuringRead { held in
      #expect(held == bytes("held"))
      #expect(cache.mode == .degraded)
    }
    #expect(await delivered.reportCodes(atLeast: 2) == [.longReader, .degraded])
    await #expect(throws: CisternError.self) { try await tier.flush() }
    try await tier.flush()
    #expect(cache.mode == .active)
    cache.put("after", bytes("after"))
    try await tier.flush()
    #expect(cache.get("after") == bytes("after"))
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test func `a removal by tag, and one of all records, leave no record in the file`() async throws {
    let tier = try open()
    let cache = try tier.cache(delivered: delivered)
    let other = try tier.cache("other", delivered: delivered)
    for number in 0..<300 {
      cache.put("k\(number)", value(number, size: 300), tags: number % 2 == 0 ? ["even"] : [])
      other.put("k\(number)", value(number, size: 300))
    }
    try await tier.flush()
    _ = cache.stageInvalidation(.tag("even"))
    _ = other.stageRemovalOfAll()
    try await tier.purge()
    let file = try #require(tier.engine.file)
    guard case .dense(let tables) = file.layout else {
      Issue.record("the file has no extents")
      return
    }
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
  func `another limit keeps the newest records that fit, and a compaction keeps all`(limit: ByteCount) async throws {
    var tier = try open(.mebibytes(8))
    var cache = try tier.cache(delivered: delivered)
    for number in 0..<4000 {
      cache.put("k\(number)", value(number, size: 700))
      if number % 50 == 49 { await cache.waitForRoom() }
    }
    try await tier.close()
    tier = try open(limit)
    cache = try tier.cache(delivered: delivered)
    let kept = cache.keys()
    // The keys of a commit have no order of age.
    #expect(kept.count * 700 > min(limit.bytes / 8, 4000 * 600) && kept.contains("k3999"), "\(kept.count)")
    #expect(tier.checkInvariants() == [])
    try await tier.close()
    let sizes = try DiskTier.compact(directory: scratch.store)
    #expect(sizes.after <= sizes.before)
    tier = try open(limit)
    cache = try tier.cache(delivered: delivered)
    #expect(cache.keys() == kept)
    #expect(kept.allSatisfy { cache.get($0)?.count == 700 })
    cache.put("new", bytes("new"))
    try await tier.flush()
    #expect(cache.get("new") == bytes("new"))
    #expect(tier.checkInvariants() == [])
    try await tier.close()
    #expect(delivered.reportCodes == [])
  }

  /// The batches have records in extents and large ones beside them.
  @Test(arguments: [Durability.processCrash, .powerCut], 1..<9)
  func `a file with room evicts nothing, regardless of the sizes of its records and commits`(
    durability: Durability, seed: UInt64
  ) async throws {
    func open() throws -> DiskTier {
      try openTier(
        scratch, limit: .mebibytes(4), layout: .dense, durability: durability, delivered: delivered,
        interval: .unreachable)
    }
    func size(_ number: Int) -> Int { number % 8 == 0 ? 2000 + number * 991 % 12_000 : number * 37 % 900 }
    var tier = try open()
    var caches = try ["one", "two"].map { try tier.cache($0, delivered: delivered) }
    var generator = SeededGenerator(seed: seed)
    var numbers: [Int: Int] = [:]
    func write(_ key: Int, _ number: Int, in batch: BatchToken? = nil) {
      let record = StagedWrite.record(
        key: bytes("key-\(key)"), RecordMetadata(created: WallTime(nanosecondsSince1970: 1), cost: 1),
        bytes: value(number, size: size(number)))
      if let batch { _ = caches[key % 2].stage(record, in: batch) } else { _ = caches[key % 2].stage(record) }
      numbers[key] = number
    }
    func missing() -> [Int] {
      numbers.filter { caches[$0.key % 2].get("key-\($0.key)") != value($0.value, size: size($0.value)) }.map(\.key)
    }
    for number in 1...900 {
      await caches[0].waitForRoom()
      let key = Int.random(in: 0..<150, using: &generator)
      switch Int.random(in: 0..<10, using: &generator) {
      case 0, 1:
        caches[key % 2].remove("key-\(key)")
        numbers[key] = nil
      case 2:
        let batch = tier.beginBatch()
        for other in 0..<8 { write((key / 8 * 8 + other) % 150, number, in: batch) }
        _ = tier.endBatch(batch)
      default: write(key, number)
      }
      guard number % (60 + 20 * Int(seed % 3)) == 0 else { continue }
      if seed % 2 == 0 { try await tier.flush() }
      try await tier.close()
      tier = try open()
      caches = try ["one", "two"].map { try tier.cache($0, delivered: delivered) }
      try #require(missing() == [], "after \(number)")
    }
    try await tier.flush()
    #expect(delivered.lost(.evicted) == [] && delivered.reportCodes == [])
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }
}
