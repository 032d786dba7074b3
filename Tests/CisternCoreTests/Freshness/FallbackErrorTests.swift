import CisternTestSupport
import CisternTesting
import Testing

@testable import CisternCore

/// The errors after which a load returns its stale value (``CacheConfiguration/fallsBack``).
@Suite struct FallbackErrorTests {
  private static let notFound = Broken(number: 404)

  private func subject(
    _ kind: SubjectKind, on executor: SeededExecutor, _ change: (inout CacheConfiguration<Int>) -> Void = { _ in }
  ) throws -> Subject {
    var settings = CacheConfiguration<Int>()
    settings.loadPolicy = .freshElseStale
    settings.refreshRetryInterval = .zero
    settings.fallsBack = { $0 as? Broken != Self.notFound }
    change(&settings)
    let subject = try Subject(
      kind, on: executor, expiry: .after(.seconds(1), graceStale: .seconds(1000)), settings: settings)
    for key in ["a", "b"] { subject.cache[key] = 7 }
    subject.clock.advance(by: .seconds(2))
    return subject
  }

  @Test(arguments: SubjectKind.caches, [false, true])
  func `an error that the predicate excludes reaches the callers, and the stale value stays`(
    kind: SubjectKind, fromSecondTier: Bool
  ) throws {
    try SeededSchedule.explore(seeds: 20) { executor in
      let subject = try subject(kind, on: executor)
      if fromSecondTier, kind != .memory { subject.cache.trim(toCost: 0) }
      let missing = ScriptedOrigin<String, Int> { _, _ in .yielding(3, .failure(Self.notFound)) }
      let loads = (0..<3).map { _ in subject.load("a", fetch: missing.fetch) }
      for load in loads { try #require(await outcome(load) == .failure("\(Self.notFound)")) }
      try #require(subject.cache.find("a")?.value == 7)
      try #require(try await subject.value("a") { _ in throw Broken() } == 7)
      try #require(subject.findings == [])
    }
  }

  @Test func `a bulk load throws the excluded error for its keys`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try subject(.memory, on: executor)
      func load(_ error: Broken) async throws -> LoadedValues<String, Int> {
        try await subject.cache.values(forKeys: ["a", "b"], policy: .freshElseStale) { _ in throw error }
      }
      let failed = try await load(Self.notFound)
      try #require(failed.values.isEmpty && failed.failed.count == 2)
      try #require(try await load(Broken()).values == ["a": 7, "b": 7])
    }
  }

  @Test func `a timeout and an open breaker return the stale value whatever the predicate says`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try subject(.memory, on: executor) {
        $0.fallsBack = { _ in false }
        $0.circuitBreaker = CircuitBreaker(opensAfter: .consecutiveFailures(1))
      }
      let policy = LoadPolicy.freshElseStale.timingOut(after: .zero)
      try #require(try await subject.value("a", policy: policy) { _ in 1 } == 7)
      await #expect(throws: Broken()) { try await subject.value("b") { _ in throw Broken() } }
      try #require(try await subject.value("b") { _ in 1 } == 7)
      try #require(subject.cache.statistics.rejected == 1)
    }
  }

  @Test(arguments: SubjectKind.caches, [false, true])
  func `an excluded error begins no pause in which loads return the stale value`(
    kind: SubjectKind, fromSecondTier: Bool
  ) throws {
    try SeededSchedule.explore(seeds: 20) { executor in
      let subject = try subject(kind, on: executor) { $0.refreshRetryInterval = .seconds(60) }
      let cache = subject.cache
      func evict() { if fromSecondTier, kind != .memory { cache.trim(toCost: 0) } }
      for _ in 0..<3 {
        evict()
        await #expect(throws: Self.notFound) { try await subject.value("a") { _ in throw Self.notFound } }
        evict()
        let failed = try await cache.values(forKeys: ["a", "b"], policy: .freshElseStale) { _ in throw Self.notFound }
        try #require(failed.values.isEmpty && failed.failed.count == 2)
        subject.clock.advance(by: .seconds(1))
      }
      // Another error begins a pause in which the stale value is returned without a fetch.
      evict()
      try #require(try await subject.value("a") { _ in throw Broken() } == 7)
      evict()
      try #require(try await subject.value("a") { _ in throw Self.notFound } == 7)
      // The pause of an excluded error ends as any other does.
      subject.clock.advance(by: .seconds(61))
      await #expect(throws: Self.notFound) { try await subject.value("a") { _ in throw Self.notFound } }
      evict()
      try #require(try await subject.value("a") { _ in 8 } == 8)
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches, [false, true])
  func `background refreshes pause after an excluded error`(kind: SubjectKind, isRequested: Bool) throws {
    try SeededSchedule.explore(seeds: 20) { executor in
      let subject = try subject(kind, on: executor) { $0.refreshRetryInterval = .seconds(60) }
      let cache = subject.cache
      let origin = ScriptedOrigin<String, Int> { _, _ in .yielding(1, .failure(Self.notFound)) }
      for _ in 0..<5 {
        if isRequested {
          try #require(cache.refresh("a") { .store(try await origin.fetch($0.key)) } == (origin.callCount == 0))
        } else {
          try #require(try await subject.value("a", policy: .cachedOrFetch, fetch: origin.fetch) == 7)
        }
        while subject.inProgressCount > 0 { await Task.yield() }
        if executor.seed % 2 == 0, kind != .memory { cache.trim(toCost: 0) }
        subject.clock.advance(by: .seconds(1))
      }
      try #require(origin.callCount == 1)
      // A load that returns the stale value only after a failure asks the origin.
      await #expect(throws: Self.notFound) { try await subject.value("a", fetch: origin.fetch) }
      try #require(origin.callCount == 2)
      try #require(!cache.refresh("a") { _ in .store(1) })
      subject.clock.advance(by: .seconds(61))
      try #require(cache.refresh("a") { _ in .store(1) })
      while subject.inProgressCount > 0 { await Task.yield() }
      try #require(cache["a"] == 1 && subject.findings == [])
    }
  }
}
