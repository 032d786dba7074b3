import CisternCore
import CisternTesting
import CisternTestSupport
import Testing

/// Values that have expired, in both tiers and after a restart.
struct ExpiredValueTests {
  @Test(arguments: SubjectKind.caches, [false, true])
  func `no call returns an expired value from either tier, and a read does not revive it`(
    kind: SubjectKind, isInMemory: Bool
  ) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Subject(kind, on: executor, expiry: .after(.seconds(60)))
      let cache = subject.cache
      cache["a"] = 1
      cache.setValue(2, forKey: "b", expiry: .after(.seconds(30)))
      cache.setValue(3, forKey: "c", expiry: .never)
      subject.clock.advance(by: .seconds(30) - .nanoseconds(1))
      try #require(cache["b"] == 2)
      if !isInMemory && kind != .memory { cache.trim(toCost: 0) }
      subject.clock.advance(by: .nanoseconds(1))
      try #require(!cache.contains("b"))
      try #require(cache.withBytes(forKey: "b") { _ in true } == nil)
      try #require(cache["b"] == nil)
      try #require(cache.value(forKey: "b") == nil)
      try #require(cache["a"] == 1)
      subject.clock.advance(by: .seconds(30))
      try #require(cache["a"] == nil)
      // A load fetches the value again, and its lifetime begins again.
      try #require(try await subject.value("a") { _ in 4 } == 4)
      subject.clock.advance(by: .seconds(59))
      try #require(cache["a"] == 4)
      subject.clock.advance(by: .seconds(1))
      try #require(try await cache.values(forKeys: ["a", "b"]) { _ in [:] }.values.isEmpty)
      try #require(cache["c"] == 3)
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.tiered)
  func `a value that expired before a restart stays expired, and a clock set back prolongs no lifetime`(
    kind: SubjectKind
  ) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Subject(kind, on: executor)
      subject.cache.setValue(1, forKey: "a", expiry: .after(.seconds(60)))
      subject.cache.setValue(2, forKey: "b", expiry: .after(.seconds(600)))
      try await subject.tier?.flush()
      // The machine was off for two minutes, and the monotonic clock does not count that time.
      subject.clock.moveWallTime(by: .seconds(120))
      let reopened = try subject.reopened(after: true)
      try #require(reopened.cache["a"] == nil)
      try #require(reopened.cache["b"] == 2)
      reopened.clock.moveWallTime(by: .seconds(-3_600))
      reopened.clock.advance(by: .seconds(480))
      try #require(reopened.cache["b"] == nil)
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `of many loads of an expired value one fetches, and none returns the old value`(kind: SubjectKind) throws {
    try SeededSchedule.explore(seeds: 200) { executor in
      let subject = try Subject(kind, on: executor, expiry: .after(.seconds(60)))
      subject.cache["a"] = -1
      let origin = ScriptedOrigin<String, Int> { _, number in .yielding(2, .value(number)) }
      subject.clock.advance(by: .seconds(60))
      if executor.seed % 2 == 0 { subject.cache.trim(toCost: 0) }
      let loads = (0..<5).map { _ in subject.load("a", fetch: origin.fetch) }
      for load in loads { try #require(try await load.value == 1) }
      try #require(origin.callCount == 1)
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `any number of loads that find an expired value release its cost`(kind: SubjectKind) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Subject(kind, on: executor, expiry: .after(.seconds(1)), memoryLimit: 16)
      for number in 0..<20 {
        try #require(try await subject.value("a") { _ in number } == number)
        subject.clock.advance(by: .seconds(1))
        try #require(subject.findings == [])
      }
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `a lifetime begins at the publication of the value, not at the start of its fetch`(kind: SubjectKind) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Subject(kind, on: executor, expiry: .after(.seconds(60)))
      let gate = Gate()
      let origin = ScriptedOrigin<String, Int> { _, number in .gated(gate, .value(number)) }
      let load = subject.load("a", fetch: origin.fetch)
      await gate.arrivals(atLeast: 1)
      subject.clock.advance(by: .seconds(600))
      gate.open()
      try #require(try await load.value == 1)
      subject.clock.advance(by: .seconds(59))
      try #require(subject.cache["a"] == 1)
    }
  }
}
