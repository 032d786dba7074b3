import CisternTestSupport
import CisternTesting
import LMDB
import Testing

@testable import CisternCore
@testable import CisternDisk

/// Records that get newer times without a write of their values.
@Suite struct RenewalTests {
  private static let size = 20_000
  private static let layouts = [DiskLayout.dense, .ordered]
  private let scratch = TemporaryDirectory()
  private let delivered = DeliveredReports()

  private func open(_ layout: DiskLayout, limit: ByteCount = .mebibytes(16)) throws -> DiskTier {
    try openTier(scratch, limit: limit, layout: layout, delivered: delivered)
  }

  private func metadata(_ time: Int, tags: [String] = []) -> RecordMetadata {
    var metadata = RecordMetadata(
      created: WallTime(nanosecondsSince1970: Int64(time)), expires: WallTime(nanosecondsSince1970: Int64(time) + 1000),
      cost: 7, tags: tags)
    metadata.grace = UInt64(time)
    return metadata
  }

  private func put(_ key: String, _ time: Int, size: Int = size, in cache: any TransactionalPartition) {
    _ = cache.stage(.record(key: bytes(key), metadata(time), bytes: value(key.utf8.count, size: size)))
  }

  /// Stages the key's record with other times, on the condition that it is still the record that was read.
  private func renew(_ key: String, _ time: Int, tags: [String] = [], in cache: any TransactionalPartition) throws {
    let read = try #require(
      cache.withRecord(forKey: bytes(key).rawSpan) { (RecordIdentity($0, bytes: $1), $1.copiedBytes()) })
    _ = cache.stage(
      .record(key: bytes(key), metadata(time, tags: tags), bytes: read.1), if: .identity(read.0))
  }

  private func created(_ key: String, in cache: any TransactionalPartition) -> Int? {
    cache.withRecord(forKey: bytes(key).rawSpan) { metadata, _ in
      // Both times and the grace belong together.
      let time = Int(metadata.created.nanosecondsSince1970)
      return metadata.grace == UInt64(time) && metadata.expires?.nanosecondsSince1970 == Int64(time) + 1000 ? time : -1
    }
  }

  /// The number of rows with newer times in the file.
  private func rowCount(of tier: DiskTier) throws -> Int {
    let file = try #require(tier.engine.file)
    return try file.environment.withRead { (transaction) throws(LMDBError) in
      try transaction.renewalRows(in: file.meta).count
    }
  }

  @Test(arguments: Self.layouts)
  func `a large record gets newer times, and its value is not written again`(layout: DiskLayout) async throws {
    var tier = try open(layout)
    var cache = try tier.cache()
    put("large", 1, in: cache)
    put("small", 1, size: 1000, in: cache)
    try await tier.flush()
    for time in 2...4 {
      try renew("large", time, in: cache)
      try renew("small", time, in: cache)
      #expect(created("large", in: cache) == time)
      try await tier.flush()
      #expect(created("large", in: cache) == time && created("small", in: cache) == time)
      #expect(try rowCount(of: tier) == 1)
    }
    #expect(cache.get("large") == value(5, size: Self.size))
    #expect(cache.metadata(of: bytes("large").rawSpan)?.created.nanosecondsSince1970 == 4)
    var listed: [String: Int64] = [:]
    cache.forEachRecord { key, metadata, _ in
      listed[String(decoding: key.copiedBytes(), as: UTF8.self)] = metadata.created.nanosecondsSince1970
      return true
    }
    #expect(listed == ["large": 4, "small": 4])
    #expect(try enumerated(cache) == ["large": 4, "small": 4])
    #expect(try enumerated(cache, needsDetails: true) == ["large": 4, "small": 4])
    #expect(tier.checkInvariants() == [])
    try await tier.close()
    tier = try open(layout)
    cache = try tier.cache()
    #expect(created("large", in: cache) == 4)
    #expect(try enumerated(cache) == ["large": 4, "small": 4])
    try await tier.close()
  }

  private func enumerated(
    _ cache: any TransactionalPartition, needsDetails: Bool = false
  ) throws -> [String: Int64] {
    var found: [String: Int64] = [:]
    var start: KeyPosition?
    while true {
      let chunk = try cache.records(in: RecordRange(after: start, limit: 2, needsDetails: needsDetails))
      for index in 0..<chunk.count {
        let record = chunk[index]
        let key = chunk.withKey(of: record) { String(decoding: $0.copiedBytes(), as: UTF8.self) }
        found[key] = chunk.metadata(of: record).created.nanosecondsSince1970
      }
      guard let end = chunk.end else { return found }
      start = end
    }
  }

  @Test(arguments: Self.layouts)
  func `other contents are written, and take the newer times away`(layout: DiskLayout) async throws {
    let tier = try open(layout)
    let cache = try tier.cache()
    put("tags", 1, in: cache)
    put("value", 1, in: cache)
    put("removed", 1, in: cache)
    try await tier.flush()
    for key in ["tags", "value", "removed"] { try renew(key, 2, in: cache) }
    try await tier.flush()
    #expect(try rowCount(of: tier) == 3)
    try renew("tags", 3, tags: ["tag"], in: cache)
    put("value", 3, size: Self.size + 1, in: cache)
    _ = cache.stage(.removal(key: bytes("removed")))
    try await tier.flush()
    #expect(created("tags", in: cache) == 3 && created("value", in: cache) == 3)
    #expect(cache.metadata(of: bytes("tags").rawSpan)?.tags == ["tag"])
    #expect(try rowCount(of: tier) == 0)
    try renew("tags", 4, tags: ["tag"], in: cache)
    try await tier.flush()
    #expect(created("tags", in: cache) == 4)
    #expect(try rowCount(of: tier) == 1)
    _ = cache.stageRemoval(of: .tag("tag"))
    try await tier.purge()
    #expect(created("tags", in: cache) == nil)
    #expect(try rowCount(of: tier) == 0)
    try renew("value", 4, in: cache)
    try await tier.flush()
    #expect(try rowCount(of: tier) == 1)
    _ = cache.stageRemovalOfAll()
    try await tier.purge()
    #expect(try rowCount(of: tier) == 0)
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test(arguments: Self.layouts)
  func `a renewal of a record that is no longer the one that was read is dropped`(layout: DiskLayout) async throws {
    let tier = try openTier(scratch, layout: layout, delivered: delivered, interval: .unreachable)
    let cache = try tier.cache()
    put("key", 1, in: cache)
    try await tier.flush()
    let first = try #require(
      cache.withRecord(forKey: bytes("key").rawSpan) { RecordIdentity($0, bytes: $1) })
    try renew("key", 2, in: cache)
    try await tier.flush()
    let write = StagedWrite.record(key: bytes("key"), metadata(3), bytes: value(3, size: Self.size))
    _ = cache.stage(write, if: .identity(first))
    try await tier.flush()
    #expect(created("key", in: cache) == 2)
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test(arguments: Self.layouts)
  func `another value is written, also on the condition that the record is the one that was read`(
    layout: DiskLayout
  ) async throws {
    let tier = try open(layout)
    let cache = try tier.cache()
    put("key", 1, in: cache)
    try await tier.flush()
    let read = try #require(cache.withRecord(forKey: bytes("key").rawSpan) { RecordIdentity($0, bytes: $1) })
    let other = value(77, size: Self.size)
    _ = cache.stage(.record(key: bytes("key"), metadata(2), bytes: other), if: .identity(read))
    try await tier.flush()
    #expect(created("key", in: cache) == 2 && cache.get("key") == other)
    #expect(try rowCount(of: tier) == 0)
    try await tier.close()
  }

  @Test(arguments: Self.layouts)
  func `a write after an invalidation of the record is not invalidated with it`(layout: DiskLayout) async throws {
    let tier = try openTier(scratch, layout: layout, delivered: delivered, interval: .unreachable)
    let cache = try tier.cache()
    let bytesOfValue = value(3, size: Self.size)
    _ = cache.stage(.record(key: bytes("key"), metadata(1, tags: ["tag"]), bytes: bytesOfValue))
    try await tier.flush()
    let read = try #require(cache.withRecord(forKey: bytes("key").rawSpan) { RecordIdentity($0, bytes: $1) })
    var newer = metadata(2, tags: ["tag"])
    newer.localVersion = cache.stageInvalidation(.tag("tag")).version
    _ = cache.stage(.record(key: bytes("key"), newer, bytes: bytesOfValue), if: .identity(read))
    try await tier.purge()
    #expect(created("key", in: cache) == 2)
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test(arguments: Self.layouts)
  func `evictions take the newer times along, and records with a second chance keep them`(
    layout: DiskLayout
  ) async throws {
    let tier = try open(layout, limit: .mebibytes(1))
    let cache = try tier.cache(delivered: delivered)
    for round in 0..<30 {
      for number in 0..<12 {
        put("k\(round)-\(number)", round * 100 + 1, size: number % 2 == 0 ? 5000 : 30_000, in: cache)
        await cache.waitForRoom()
      }
      try await tier.flush()
      for old in max(0, round - 1)...round {
        for number in 0..<12 where cache.has(bytes("k\(old)-\(number)")) {
          try renew("k\(old)-\(number)", old * 100 + 1 + (round - old) * 2 + 1, in: cache)
        }
      }
      try await tier.flush()
      for old in 0...round {
        for number in 0..<12 {
          guard let time = created("k\(old)-\(number)", in: cache) else { continue }
          let expected = old * 100 + 1 + min(round - old, 1) * 2 + 1
          #expect(time == expected, "round \(round)")
        }
      }
      #expect(tier.checkInvariants() == [])
    }
    #expect(delivered.lost(.evicted).count > 100)
    try await tier.close()
  }

  @Test(arguments: Self.layouts, Self.layouts)
  func `a compaction, a smaller limit and another layout keep the newer times`(
    layout: DiskLayout, other: DiskLayout
  ) async throws {
    var tier = try open(layout)
    var cache = try tier.cache()
    let names = (0..<20).map { "k\($0)" } + [String(repeating: "long", count: 40)]
    for name in names { put(name, 1, in: cache) }
    try await tier.flush()
    for name in names { try renew(name, 2, in: cache) }
    try await tier.flush()
    try await tier.close()
    _ = try DiskTier.compact(directory: scratch.store)
    tier = try open(layout)
    cache = try tier.cache()
    for name in names { #expect(created(name, in: cache) == 2) }
    #expect(tier.checkInvariants() == [])
    try await tier.close()
    tier = try open(other, limit: .mebibytes(8))
    cache = try tier.cache()
    for name in names { #expect(created(name, in: cache) == 2) }
    #expect(tier.checkInvariants() == [])
    for name in names { try renew(name, 3, in: cache) }
    try await tier.flush()
    for name in names { #expect(created(name, in: cache) == 3) }
    #expect(tier.checkInvariants() == [])
    #expect(delivered.lostKeys == [])
    try await tier.close()
  }

  @Test(arguments: Self.layouts)
  func `the records that fit into a smaller limit keep their newer times`(layout: DiskLayout) async throws {
    var tier = try open(layout)
    var cache = try tier.cache()
    let names = (0..<200).map { "k\($0)" }
    for name in names { put(name, 1, in: cache) }
    try await tier.flush()
    for name in names { try renew(name, 2, in: cache) }
    try await tier.flush()
    #expect(try rowCount(of: tier) == names.count)
    try await tier.close()
    tier = try open(layout, limit: .mebibytes(2))
    cache = try tier.cache()
    let times = names.compactMap { created($0, in: cache) }
    #expect(times.count > 20 && times.count < names.count && times.allSatisfy { $0 == 2 })
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }
}
