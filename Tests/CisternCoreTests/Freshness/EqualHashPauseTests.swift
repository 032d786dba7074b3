import CisternTestSupport
import CisternTesting
import Testing

@testable import CisternCore

/// Pauses after failures, for keys that have one hash.
struct EqualHashPauseTests {
  @Test(arguments: SubjectKind.tiered)
  func `a failed fetch pauses its own key, and not another with its hash`(kind: SubjectKind) throws {
    try SeededExecutor.run(seed: 0) { executor in
      var configuration = CacheConfiguration<Int>()
      configuration.refreshRetryInterval = .seconds(60)
      let subject = try EqualHashSubject(
        kind, on: executor, expiry: .after(.seconds(60), graceStale: .seconds(6_000)), configuration: configuration)
      let (cache, one, other) = (subject.cache, EqualHashKey("one"), EqualHashKey("other"))
      (cache[one], cache[other]) = (1, 2)
      subject.clock.advance(by: .seconds(61))
      let attempts = Recorder<EqualHashKey>()
      // Memory keeps a pause with its value. Without the value, the pause is beside memory.
      func load(_ key: EqualHashKey, fails: Bool) async throws -> Int {
        cache.trim(toCost: 0)
        return try await cache.value(forKey: key, policy: .freshElseStale) { _ in
          attempts.record(key)
          if fails { throw Broken() }
          return 3
        }
      }
      try #require(try await load(one, fails: true) == 1)
      try #require(try await load(other, fails: false) == 3)
      try #require(try await load(one, fails: false) == 1)
      try #require(attempts.elements == [one, other])
      try #require(subject.findings == [])
    }
  }
}
