import CisternTesting
import CisternTestSupport
import Testing

@testable import CisternCore

/// A defect that the combinations found: a load that may fall back to a stale value throws the error of its fetch, although nothing
/// happened to the value.
///
/// The flight ends, and a sweep forgets an invalidation of other keys before the caller resumes. `EntryTable.isInvalidated(_:of:since:)`
/// then finds that the invalidation version of the wait is older than all remembered ones, and assumes the worst.
struct FallbackBesideSweepTests {
  private struct Down: Error {}

  @Test func `an invalidation of other keys during a failing fetch leaves the stale value to its caller`() {
    withKnownIssue("a caller that resumes after a sweep gets the error instead of its stale value") {
      try SeededSchedule.explore(seeds: 200) { executor in
        let clock = ManualClock()
        var configuration = Store.Configuration.ignoringMemoryPressure(clock: clock)
        configuration.taskExecutor = executor
        let cache = try Cache<String, Int>(
          settings: CacheConfiguration(), expiry: .after(.seconds(1), graceStale: .seconds(100)),
          configuration: configuration)
        cache["key"] = 1
        clock.advance(by: .seconds(2))
        let value = try await cache.value(forKey: "key", policy: .freshElseStale) { _ in
          cache.removeAll(tagged: "a tag that no value has")
          throw Down()
        }
        try #require(value == 1)
      }
    }
  }
}
