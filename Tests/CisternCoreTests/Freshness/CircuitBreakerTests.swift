import CisternTestSupport
import CisternTesting
import Testing

@testable import CisternCore

/// Loads of a cache with a circuit breaker.
@Suite struct CircuitBreakerTests {
  private static let sensitive = CircuitBreaker(
    opensAfter: .consecutiveFailures(2), openDuration: .seconds(10), maximumOpenDuration: .seconds(40)
  ) { $0 as? Broken != Broken(number: 404) }

  func subject(
    _ kind: SubjectKind = .memory, on executor: SeededExecutor, expiry: Expiry = .never,
    _ change: (inout CacheConfiguration<Int>) -> Void = { _ in }
  ) throws -> Subject {
    var settings = CacheConfiguration<Int>()
    settings.circuitBreaker = Self.sensitive
    change(&settings)
    return try Subject(kind, on: executor, expiry: expiry, settings: settings)
  }

  /// Loads new keys whose fetch fails, until the breaker is open.
  func open(_ subject: Subject) async throws {
    for key in ["broken1", "broken2"] {
      await #expect(throws: Broken()) { try await subject.value(key) { _ in throw Broken() } }
    }
    try #require(subject.cache.loader.settings.circuit?.phase.state == .open)
  }

  /// Returns a load that pauses after its first attempt, which failed.
  private func pausedLoad(
    on executor: SeededExecutor, pause: Duration
  ) async throws -> (Subject, ScriptedOrigin<String, Int>, Task<Int, any Error>) {
    let subject = try subject(on: executor) {
      $0.retry = RetryPolicy(attempts: 5, initialDelay: pause, maximumDelay: pause)
    }
    let origin = ScriptedOrigin<String, Int> { _, _ in .failure(Broken()) }
    let load = subject.load("a", fetch: origin.fetch)
    while subject.clock.sleeperCount == 0 { await Task.yield() }
    return (subject, origin, load)
  }

  private func rejection(_ subject: Subject, _ key: String) async -> CisternError? {
    let called = Recorder<String>()
    let error = await #expect(throws: CisternError.self) {
      try await subject.value(key) { key in
        called.record(key)
        return 0
      }
    }
    #expect(called.elements == [] && error?.code == .circuitOpen)
    return error
  }

  @Test(arguments: SubjectKind.caches)
  func `an open breaker calls no fetch, and the error states when it permits the next one`(kind: SubjectKind) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try subject(kind, on: executor)
      try await open(subject)
      subject.clock.advance(by: .seconds(6))
      let error = await rejection(subject, "a")
      try #require(error?.message.contains("permitted in 4.0 seconds") == true)
      try #require(error?.location.contains("key a") == true)
      try #require(subject.cache.statistics.failures == 2 && subject.cache.statistics.rejected == 1)
      subject.clock.advance(by: .seconds(4))
      try #require(try await subject.value("a") { _ in 1 } == 1)
      try #require(subject.cache.loader.settings.circuit?.phase == .closed)
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `an open breaker returns the stale value where a failure does`(kind: SubjectKind) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try subject(kind, on: executor, expiry: .after(.seconds(1), graceStale: .seconds(1000)))
      subject.cache["a"] = 7
      subject.clock.advance(by: .seconds(2))
      try await open(subject)
      let origin = ScriptedOrigin<String, Int> { _, _ in .value(1) }
      try #require(try await subject.value("a", policy: .freshElseStale, fetch: origin.fetch) == 7)
      let error = await #expect(throws: CisternError.self) {
        try await subject.value("a", policy: .freshOnly, fetch: origin.fetch)
      }
      try #require(error?.code == .circuitOpen && origin.callCount == 0)
      try #require(subject.cache.find("a")?.value == 7)
      try #require(subject.findings == [])
    }
  }

  @Test func `each attempt counts, and a rejected one is not retried`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try subject(on: executor) { $0.retry = RetryPolicy(attempts: 5, initialDelay: .zero) }
      let origin = ScriptedOrigin<String, Int> { _, _ in .failure(Broken()) }
      await #expect(throws: Broken.self) { try await subject.value("a", fetch: origin.fetch) }
      try #require(origin.callCount == 2)
      // The load failed because of the origin, and not because the breaker is open since.
      try #require(subject.cache.statistics.failures == 1 && subject.cache.statistics.rejected == 0)
      try #require(subject.clock.sleeperCount == 0 && subject.findings == [])
    }
  }

  @Test func `a load whose attempt opens the breaker gets the error without the pause before the next attempt`() throws
  {
    try SeededExecutor.run(seed: 0) { executor in
      let (subject, origin, load) = try await pausedLoad(on: executor, pause: .seconds(100))
      // The pause is longer than the open time of the breaker.
      subject.clock.advance(by: .seconds(101))
      try #require(await outcome(load) == .failure("\(Broken())"))
      try #require(origin.callCount == 2 && subject.clock.sleeperCount == 0)
      try #require(subject.findings == [])
    }
  }

  @Test func `a load whose next attempt is rejected gets the error of its last one`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let (subject, origin, load) = try await pausedLoad(on: executor, pause: .seconds(5))
      // The failure of another load opens the breaker during the pause.
      await #expect(throws: Broken.self) { try await subject.value("b", fetch: origin.fetch) }
      subject.clock.advance(by: .seconds(6))
      try #require(await outcome(load) == .failure("\(Broken())"))
      try #require(origin.callCount == 2 && subject.findings == [])
    }
  }

  @Test func `errors that are no failures of the origin, and cancelled calls, do not open the breaker`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try subject(on: executor)
      func fail(_ key: String, with error: any Error) async { _ = try? await subject.value(key) { _ in throw error } }
      for number in 0..<5 { await fail("missing\(number)", with: Broken(number: 404)) }
      for number in 0..<5 {
        await fail("broken\(number)", with: Broken())
        await fail("missing\(number)", with: Broken(number: 404))
      }
      let gate = Gate()
      let loads = (0..<5).map { number in
        subject.load("cancelled\(number)") { _ in
          await gate.passUncancelled()
          throw Broken()
        }
      }
      for _ in 0..<50 { await Task.yield() }
      for load in loads { load.cancel() }
      gate.open()
      for load in loads { try #require(await outcome(load) == .cancelled) }
      for _ in 0..<50 { await Task.yield() }
      await fail("first", with: Broken())
      await fail("cancelled", with: CancellationError())
      try #require(subject.cache.loader.settings.circuit?.phase == .closed)
      await fail("second", with: Broken())
      try #require(subject.cache.loader.settings.circuit?.phase.state == .open)
    }
  }

  @Test func `bulk loads and loads with a context count one call, and are rejected`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try subject(on: executor)
      let cache = subject.cache
      let failed = try await cache.values(forKeys: ["a", "b", "c"]) { _ -> [String: Int] in throw Broken() }
      try #require(failed.failed.count == 3)
      try #require(cache.loader.settings.circuit?.phase == .closed)
      await #expect(throws: Broken()) { try await cache.load("a") { _ in throw Broken() } }
      try #require(cache.loader.settings.circuit?.phase.state == .open)
      let called = Recorder<Int>()
      let bulk = try await cache.values(forKeys: ["a", "b"]) { keys in
        called.record(keys.count)
        return [:]
      }
      for error in bulk.failed.values { try #require((error as? CisternError)?.code == .circuitOpen) }
      try #require(bulk.failed.count == 2)
      let error = await #expect(throws: CisternError.self) {
        try await cache.load("d") { _ in
          called.record(1)
          return .store(1)
        }
      }
      try #require(error?.code == .circuitOpen && called.count == 0)
      try #require(subject.findings == [])
    }
  }

  @Test func `a load inside the fetch of a probe is part of the probe`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try subject(on: executor)
      try await open(subject)
      subject.clock.advance(by: .seconds(10))
      let value = try await subject.value("outer") { _ in
        let error = await #expect(throws: CisternError.self) {
          try await Task.detached(executorPreference: executor) { try await subject.value("other") { _ in 0 } }.value
        }
        #expect(error?.message.contains("when a probe ends, at the latest in 10.0 seconds") == true)
        return try await subject.value("inner") { _ in 5 } + 1
      }
      try #require(value == 6 && subject.cache.loader.settings.circuit?.phase == .closed)
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches, [LoadPolicy.cachedOrFetch, .freshElseStale])
  func `the pause of a rejected fetch ends when the breaker permits a call`(
    kind: SubjectKind, policy: LoadPolicy
  ) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try subject(kind, on: executor, expiry: .after(.seconds(1), graceStale: .seconds(1000))) {
        $0.refreshRetryInterval = .seconds(60)
      }
      let cache = subject.cache
      cache["a"] = 7
      subject.clock.advance(by: .seconds(2))
      try await open(subject)
      let called = Recorder<String>()
      func load(_ value: Int) async throws -> Int {
        defer { if kind != .memory { cache.trim(toCost: 0) } }
        let loaded = try await subject.value("a", policy: policy) { key in
          called.record(key)
          return value
        }
        while subject.inProgressCount > 0 { await Task.yield() }
        return loaded
      }
      try #require(try await load(8) == 7 && cache.statistics.rejected == 1)
      subject.clock.advance(by: .seconds(9))
      // The pause holds, so that no further fetch is rejected.
      try #require(try await load(8) == 7 && cache.statistics.rejected == 1 && called.count == 0)
      subject.clock.advance(by: .seconds(1))
      try #require(try await load(8) == (policy == .freshElseStale ? 8 : 7))
      try #require(called.count == 1 && cache["a"] == 8)
      try #require(subject.findings == [])
    }
  }

  @Test func `a rejected fetch does not wait for a permit that a hanging probe holds`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try subject(on: executor) { $0.flightLimit = 1 }
      try await open(subject)
      subject.clock.advance(by: .seconds(10))
      let gate = Gate()
      let probe = subject.load("probe") { _ in
        await gate.passUncancelled()
        return 1
      }
      await gate.arrivals(atLeast: 1)
      let rejected = subject.load("rejected") { _ in 2 }
      for _ in 0..<100 { await Task.yield() }
      try #require(subject.cache.statistics.rejected == 1)
      gate.open()
      try #require(try await probe.value == 1)
      await #expect(throws: CisternError.self) { try await rejected.value }
      try #require(subject.findings == [])
    }
  }

  @Test func `a call that began before the breaker opened does not close it`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try subject(on: executor)
      let gate = Gate()
      let late = subject.load("late") { _ in
        await gate.passUncancelled()
        return 1
      }
      await gate.arrivals(atLeast: 1)
      try await open(subject)
      gate.open()
      try #require(try await late.value == 1)
      try #require(subject.cache.loader.settings.circuit?.phase.state == .open)
    }
  }

  @Test func `invalid settings are refused with an explanation`() throws {
    func message(_ breaker: CircuitBreaker) -> String {
      var settings = CacheConfiguration<Int>()
      settings.circuitBreaker = breaker
      let error = #expect(throws: CisternError.self) { try Cache<String, Int>(settings: settings) }
      #expect(error?.code == .invalidArgument)
      return error?.message ?? ""
    }
    #expect(message(CircuitBreaker(opensAfter: .consecutiveFailures(0))).contains("must have at least 1"))
    #expect(message(CircuitBreaker(opensAfter: .failureShare(0))).contains("must be above 0 and at most 1"))
    #expect(message(CircuitBreaker(opensAfter: .failureShare(.nan))).contains("must be above 0 and at most 1"))
    #expect(message(CircuitBreaker(opensAfter: .failureShare(0.5, minimumCalls: 0))).contains("must be at least 1"))
    #expect(message(CircuitBreaker(opensAfter: .failureShare(0.5, within: .zero))).contains("must be above zero"))
    #expect(message(CircuitBreaker(openDuration: .zero)).contains("openDuration is 0.0 seconds"))
    #expect(
      message(CircuitBreaker(openDuration: .seconds(5), maximumOpenDuration: .seconds(4)))
        .contains("must be at least openDuration, 5.0 seconds"))
    #expect(message(CircuitBreaker(probeCount: 0)).contains("probeCount is 0"))
  }
}
