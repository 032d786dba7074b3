import CisternTestSupport
import Locking
import Testing

@testable import CisternCore
@testable import CisternDisk

/// The purge of invalidated records while the writer thread always has a commit to make.
@Suite struct PurgeUnderLoadThreadsTests {
  /// The transactions since the invalidation, each of which stages the next write.
  private enum Progress {
    case staging(count: Int)
    /// The invalidation has ended, or has not ended after the largest number of transactions.
    case done(hasEnded: Bool)
  }

  @Test func `invalidations end although callers wait for one commit after another`() async throws {
    let scratch = TemporaryDirectory()
    let next = Guarded<(@Sendable () -> Void)?>(nil)
    let faults = DiskFaults {
      next.withLock { $0 }?()
      return nil
    }
    let tier = try openTier(scratch, interval: .unreachable, faults: faults)
    let cache = try tier.cache()
    for number in 0..<100 { cache.put("old\(number)", value(number, size: 100), tags: ["old"]) }
    cache.put("kept", [1], tags: ["kept"])
    try await tier.flush()
    let engine = tier.engine
    let partition = try #require(engine.partitions.first)
    let progress = Guarded(Progress.staging(count: 0))
    _ = cache.stageInvalidation(.tag("old"))
    // Each transaction stages the next write, for whose commit a caller already waits when the transaction ends.
    next.withLock {
      $0 = {
        let hasEnded = partition.invalidations.pending.isEmpty
        let number = progress.withLock { progress -> Int? in
          guard case .staging(let count) = progress else { return nil }
          progress = hasEnded || count == 1_000 ? .done(hasEnded: hasEnded) : .staging(count: count + 1)
          return count
        }
        guard let number else { return }
        cache.put("new\(number % 10)", value(number, size: 100))
        engine.monitor.change { $0.isCommitRequested = true }
      }
    }
    engine.monitor.change { $0.isCommitRequested = true }
    var hasEnded: Bool?
    while hasEnded == nil {
      await Task.yield()
      if case .done(let answer) = progress.withLock({ $0 }) { hasEnded = answer }
    }
    #expect(hasEnded == true)
    next.withLock { $0 = nil }
    try await tier.purge()
    #expect(cache.get("kept") == [1] && !cache.has(bytes("old0")))
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }
}
