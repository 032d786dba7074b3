import CisternTestSupport
import CisternTesting
import Locking
import Testing

@testable import CisternCore

/// A reload that begins while the leader of a load reads the second tier.
struct ReloadThreadsTests {
  @Test(.timeLimit(.minutes(30)))
  func `a reload that joins a load fetches, even if the load finds its value in the second tier`() async throws {
    let tier = FaultInjectingTier()
    let store = try Store(secondTier: tier, memoryLimit: .mebibytes(1))
    let cache = try store.cache("numbers", of: Int.self, keyedBy: String.self)
    let reload = Reload()
    let executor = ThreadPerJob()
    for round in 1...50 {
      cache["a"] = -round
      cache.trim(toCost: 0)
      let joins = cache.statistics.joins
      tier.setAfterLoad { _ in
        tier.setAfterLoad { _ in }
        reload.task.withLock { task in
          task = Task.detached(executorPreference: executor) {
            try await cache.refreshValue(forKey: "a") { _ in round }
          }
        }
        // The reload has its own thread, and the leader holds no lock here.
        while cache.statistics.joins == joins, !Task.isCancelled { ShortPause.wait() }
      }
      let value = try await cache.value(forKey: "a") { _ in 0 }
      #expect(value == -round)
      let task = try #require(reload.task.withLock { $0 })
      #expect(try await task.value == round)
      #expect(cache["a"] == round)
    }
    #expect(cache.checkInvariants() == [])
  }

  private final class Reload: Sendable {
    let task = Guarded<Task<Int, any Error>?>(nil)
  }
}
