import CisternTestSupport
import LMDB
import Testing

@testable import CisternCore
@testable import CisternDisk

@Suite struct DiskKeyTests {
  static let keys: [[UInt8]] = [
    [], [0], [255, 254], bytes("plain"), bytes("ключ 🔑"), value(1, size: 64), value(1, size: 65), value(2, size: 511),
    value(3, size: 512), value(4, size: 100_000),
  ]

  @Test func `keys of any length and content stay distinct, both staged and committed`() async throws {
    let scratch = TemporaryDirectory()
    var tier = try openTier(scratch)
    var cache = try tier.cache()
    func check() {
      for (index, key) in Self.keys.enumerated() { #expect(cache.get(key) == value(index, size: 50)) }
      #expect(cache.get(value(9, size: 70)) == nil)
    }
    for (index, key) in Self.keys.enumerated() { cache.put(key, value(index, size: 50)) }
    check()
    try await tier.flush()
    check()
    #expect(tier.checkInvariants() == [])
    try await tier.close()
    tier = try openTier(scratch)
    cache = try tier.cache()
    check()
    var found: Set<[UInt8]> = []
    cache.forEachRecord { key, metadata, size in
      found.insert(key.copiedBytes())
      return size == 50 && metadata.cost == 7
    }
    #expect(found == Set(Self.keys))
    for key in Self.keys { _ = cache.stage(.removal(key: key)) }
    try await tier.flush()
    #expect(cache.statistics.entryCount == 0)
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test(.enabled(if: DiskLayout.tested == .ordered))
  func `a key whose digest equals another key's is a miss and never returns the other's value`() async throws {
    let scratch = TemporaryDirectory()
    let tier = try openTier(scratch)
    let cache = try tier.cache()
    let mine = value(1, size: 200)
    let other = value(2, size: 200)
    cache.put(mine, bytes("mine"))
    try await tier.flush()
    // Simulates a digest collision: the other key's record is stored under this key's digest.
    let file = try #require(tier.engine.file)
    let generation = try #require(tier.engine.partitions.first).generation
    let diskKey = DiskKey(generation: generation, key: mine.rawSpan)
    let draft = RecordDraft(
      key: other, metadata: RecordMetadata(created: WallTime(nanosecondsSince1970: 0), cost: 0), bytes: bytes("other"))
    try file.environment.withWrite { (transaction) throws(LMDBError) in
      let keyBytes = diskKey.copiedBytes()
      var target = try transaction.reserve(
        byteCount: draft.size, forKey: keyBytes.rawSpan, in: file.orderedTables.records)
      draft.encode(sequence: 1, under: diskKey, into: &target)
    }
    #expect(cache.get(mine) == nil)
    let isThere = cache.contains(mine.rawSpan)
    #expect(!isThere)
    // A removal of this key does not remove the other key's record.
    _ = cache.stage(.removal(key: mine))
    try await tier.flush()
    #expect(cache.keys().count == 1)
    cache.put(mine, bytes("mine again"))
    try await tier.flush()
    #expect(cache.get(mine) == bytes("mine again"))
    try await tier.close()
  }

  @Test func `a record is returned with its metadata, both staged and committed`() async throws {
    let scratch = TemporaryDirectory()
    let tier = try openTier(scratch)
    let cache = try tier.cache()
    for (index, metadata) in RecordFormatTests.metadata.enumerated() {
      _ = cache.stage(.record(key: [UInt8(index)], metadata, bytes: []))
    }
    for _ in 0..<2 {
      for (index, metadata) in RecordFormatTests.metadata.enumerated() {
        let found = cache.withRecord(forKey: [UInt8(index)].rawSpan) { metadata, bytes in
          #expect(bytes.byteCount == 0)
          return metadata
        }
        // The tier may return its current invalidation version, because no invalidation up to the read concerned the
        // record.
        var expected = metadata
        if found?.invalidationVersion != expected.invalidationVersion {
          expected.localVersion = cache.invalidationVersion
        }
        #expect(found == expected)
      }
      try await tier.flush()
    }
    try await tier.close()
  }
}
