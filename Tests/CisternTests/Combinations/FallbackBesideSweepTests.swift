import CisternTesting
import CisternTestSupport
import Testing

@testable import CisternCore

/// A load falls back to its stale value also if a sweep has forgotten the invalidations of other keys since.
///
/// The flight ends, and the sweep runs before the caller resumes. The invalidation version of the wait is then older
/// than all remembered ones.
struct FallbackBesideSweepTests {
  @Test(arguments: SubjectKind.caches, [true, false])
  func `an invalidation during a failing fetch concerns the stale value of its key alone`(
    kind: SubjectKind, isConcerned: Bool
  ) throws {
    try SeededSchedule.explore(seeds: 100) { executor in
      let subject = try Subject(kind, on: executor, expiry: .after(.seconds(1), graceStale: .seconds(100)))
      let cache = subject.cache
      cache.setValue(1, forKey: "key", tags: ["own"])
      subject.clock.advance(by: .seconds(2))
      if executor.seed % 2 == 0 { cache.trim(toCost: 0) }
      let isStored = cache.find("key") != nil
      if executor.seed % 2 == 0 { cache.trim(toCost: 0) }
      let load = Task(executorPreference: executor) {
        try await cache.value(forKey: "key", policy: .freshElseStale) { _ in
          cache.removeAll(tagged: isConcerned ? "own" : "another tag")
          throw Broken()
        }
      }
      switch await load.result {
      case .success(let value): try #require(value == 1 && isStored && !isConcerned)
      case .failure(let error): try #require(error is Broken && (!isStored || isConcerned))
      }
      try #require(subject.findings == [])
    }
  }
}
