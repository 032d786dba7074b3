import CisternTestSupport
import Foundation
import Testing

@testable import CisternCore
@testable import CisternDisk

/// Invalidations in a file that is compacted, moved or copied.
@Suite struct CopiedInvalidationsTests {
  @Test func `A compacted, moved or copied store keeps its records, metadata and invalidations`()
    async throws
  {
    var scratch = TemporaryDirectory()
    let metadata = RecordMetadata(
      created: WallTime(nanosecondsSince1970: 5), expires: WallTime(nanosecondsSince1970: 50), cost: 3,
      schemaVersion: 9, tags: ["a", "b"]
    ).with {
      $0.grace = 7
      $0.idle = 8
      $0.lastUsed = WallTime(nanosecondsSince1970: 6)
      $0.refreshAhead = 2
      $0.invalidationVersion = 1
      $0.isNegative = true
    }
    var tier = try openTier(scratch)
    var cache = try tier.cache()
    for number in 0..<300 { cache.put("k\(number)", value(number, size: 500), tags: number % 3 == 0 ? ["red"] : []) }
    try await tier.flush()
    _ = cache.stageInvalidation(.tag("red"))
    _ = cache.stage(.record(key: bytes("full"), metadata, bytes: []))
    try await tier.close()
    for step in 0..<3 {
      switch step {
      case 0: _ = try DiskTier.compact(directory: scratch.store)
      case 1:
        let other = TemporaryDirectory()
        try FileManager.default.moveItem(atPath: scratch.store, toPath: other.store)
        scratch = other
      default:
        let other = TemporaryDirectory()
        try FileManager.default.copyItem(atPath: scratch.store, toPath: other.store)
        scratch = other
      }
      tier = try openTier(scratch)
      cache = try tier.cache()
      #expect(cache.invalidationVersion == 1)
      #expect(cache.get("k3") == nil)
      #expect(cache.keys().count == 201)
      let found = cache.withRecord(forKey: bytes("full").rawSpan) { found, _ in found }
      #expect(found == metadata)
      #expect(tier.checkInvariants() == [])
      try await tier.close()
    }
  }
}
