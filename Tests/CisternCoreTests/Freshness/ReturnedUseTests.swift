import CisternCore
import CisternTestSupport
import CisternTesting
import Testing

/// A use is a look-up or a load that returns the value, and no other one.
struct ReturnedUseTests {
  private static let expiry = Expiry.after(.seconds(10), graceStale: .seconds(10_000)).idle(.seconds(100))

  @Test(arguments: SubjectKind.caches)
  func `a stale value that loads return because the fetch fails stays in use`(kind: SubjectKind) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Subject(kind, on: executor, expiry: Self.expiry)
      subject.cache["a"] = 1
      for _ in 0..<8 {
        subject.clock.advance(by: .seconds(30))
        try #require(try await subject.value("a", policy: .freshElseStale) { _ in throw Broken() } == 1)
      }
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.tiered)
  func `look-ups that do not return a stale record are no uses of it`(kind: SubjectKind) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Subject(kind, on: executor, expiry: Self.expiry)
      subject.cache["a"] = 1
      subject.cache.trim(toCost: 0)
      subject.clock.advance(by: .seconds(80))
      // The value is stale. The look-up brings it into memory, and does not return it.
      try #require(subject.cache["a"] == nil)
      subject.clock.advance(by: .seconds(30))
      try #require(subject.cache.find("a") == nil)
      subject.cache.trim(toCost: 0)
      try #require(subject.cache.find("a") == nil)
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.tiered)
  func `a look-up that returns a record is a use of it in both tiers`(kind: SubjectKind) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Subject(kind, on: executor, expiry: Self.expiry)
      subject.cache["a"] = 1
      for _ in 0..<4 {
        subject.cache.trim(toCost: 0)
        subject.clock.advance(by: .seconds(80))
        try #require(subject.cache.find("a")?.value == 1)
      }
      subject.clock.advance(by: .seconds(80))
      try #require(subject.cache.find("a")?.value == 1)
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.tiered)
  func `a value that the origin confirms is kept although it was used during the fetch`(kind: SubjectKind) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Subject(kind, on: executor, expiry: Self.expiry)
      let cache = subject.cache
      cache["a"] = 1
      subject.clock.advance(by: .seconds(30))
      let gate = Gate()
      let load = Task(executorPreference: executor) {
        try await cache.load("a", policy: .freshOnly) { context in
          try #require(context.stored?.value == 1)
          try await gate.pass()
          return .keepStored()
        }
      }
      await gate.arrivals(atLeast: 1)
      try #require(cache.value(forKey: "a", staleUpTo: .seconds(1_000)) == 1)
      gate.open()
      try #require(try await load.value?.value == 1)
      try #require(cache.find("a")?.isStale == false)
      cache.trim(toCost: 0)
      try #require(cache.find("a")?.isStale == false)
      try #require(subject.findings == [])
    }
  }
}
