import CisternTestSupport
import Foundation
import Testing

@testable import CisternCore
@testable import CisternDisk

/// Invalidations in a file that is compacted, moved or copied.
@Suite struct CopiedInvalidationsTests {
  @Test func `a compacted, moved or copied store keeps its records, metadata and invalidations`()
    async throws
  {
    var scratch = TemporaryDirectory()
    let metadata = RecordMetadata.complete
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
