import CisternTestSupport
import Locking
import Testing

@testable import CisternCore
@testable import CisternDisk

/// Batches, invalidations, single writes and flushes on several threads.
@Suite struct DiskBatchThreadsTests {
  @Test func `batches and invalidations on several threads are all committed, and nothing invalidated is read`()
    async throws
  {
    let scratch = TemporaryDirectory()
    let tier = try openTier(scratch)
    let cache = try tier.cache()
    // The version of the last invalidation of each writer's tag, recorded after the call returns.
    let invalidated = Numbers()
    await withTaskGroup(of: Void.self) { group in
      for task in 0..<4 {
        group.addTask {
          for round in 0..<150 {
            let batch = cache.beginBatch()
            for key in 0..<5 {
              let invalidationVersion = cache.invalidationVersion.number
              var metadata = RecordMetadata(
                created: WallTime(nanosecondsSince1970: 1), cost: 1, tags: ["t\(task)"])
              metadata.invalidationVersion = invalidationVersion
              _ = cache.stage(
                .record(key: bytes("\(task)-\(key)"), metadata, bytes: Array("\(invalidationVersion)".utf8)), in: batch)
            }
            cache.endBatch(batch)
            cache.put("shared-\(round % 7)", [1], tags: ["shared"])
            if round % 3 == 0 {
              let invalidationVersion = cache.stageInvalidation(.tag("t\(task)")).version.number
              invalidated.values.withLock { $0[task] = max($0[task], invalidationVersion) }
            }
            if round % 10 == 0 { try? await tier.flush() }
          }
        }
        group.addTask {
          for round in 0..<1500 {
            let other = (task + round) % 4
            let before = invalidated.values.withLock { $0[other] }
            let found = cache.get("\(other)-\(round % 5)").flatMap { UInt64(String(decoding: $0, as: UTF8.self)) }
            if let found { #expect(found >= before) }
            if round % 16 == 0 { await Task.yield() }
          }
        }
      }
    }
    try await tier.purge()
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }
}

private final class Numbers: Sendable {
  let values = Guarded([UInt64](repeating: 0, count: 4))
}
