import CisternCore
import CisternTesting
import CisternTestSupport
import Testing

/// Load counters match the events.
struct LoadCountsTests {
  @Test(arguments: SubjectKind.caches)
  func `a key that a bulk fetch leaves out counts as a miss, and not as a failure`(kind: SubjectKind) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Subject(kind, on: executor)
      let loaded = try await subject.cache.values(forKeys: ["a", "b", "c"]) { _ in ["a": 1] }
      try #require(loaded.missing == ["b", "c"])
      let statistics = subject.cache.statistics
      try #require(statistics.failures == 0 && statistics.misses == 3 && statistics.flights == 3)
      let failed = try await subject.cache.values(forKeys: ["d", "e"]) { _ in throw Broken() }
      try #require(failed.failures.count == 2 && subject.cache.statistics.failures == 2)
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `a refresh that a bulk fetch omits is not a failure, and is not retried immediately`(kind: SubjectKind) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Subject(kind, on: executor, expiry: .after(.seconds(60), graceStale: .seconds(600)))
      subject.cache["a"] = -1
      subject.clock.advance(by: .seconds(61))
      let calls = Recorder<[String]>()
      for _ in 0..<3 {
        let loaded = try await subject.cache.values(forKeys: ["a"]) { keys in
          calls.record(keys)
          return [:]
        }
        try #require(loaded.values == ["a": -1])
        while subject.inProgressCount > 0 { await Task.yield() }
      }
      try #require(calls.elements == [["a"]] && subject.cache.statistics.failures == 0)
      try #require(subject.findings == [])
    }
  }
}
