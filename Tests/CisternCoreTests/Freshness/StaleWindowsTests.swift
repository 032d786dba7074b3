import CisternCore
import CisternTestSupport
import CisternTesting
import Testing

/// Separate windows for stale values: while a refresh runs, and after errors.
struct StaleWindowsTests {
  private static let windows = Expiry.after(
    .seconds(60), staleWhileRevalidate: .seconds(30), staleIfError: .seconds(600))

  @Test(arguments: SubjectKind.caches)
  func `a load refreshes in the first window, and falls back in the second one`(kind: SubjectKind) throws {
    try SeededSchedule.explore(seeds: 60) { executor in
      let subject = try Subject(kind, on: executor, expiry: Self.windows)
      let cache = subject.cache
      cache["a"] = 1
      if executor.seed % 2 == 0, kind != .memory { cache.trim(toCost: 0) }
      subject.clock.advance(by: .seconds(89))
      // Within the first window: the stale value at once, and one refresh, which fails.
      try #require(try await subject.value("a") { _ in throw Broken() } == 1)
      while subject.inProgressCount > 0 { await Task.yield() }
      subject.clock.advance(by: .seconds(2))
      // After it, a load waits for its fetch, and falls back if that fails.
      if executor.seed % 3 == 0, kind != .memory { cache.trim(toCost: 0) }
      let failing = ScriptedOrigin<String, Int> { _, _ in .failure(Broken()) }
      try #require(try await subject.value("a", fetch: failing.fetch) == 1)
      try #require(failing.callCount == 1)
      // A pause follows: no fetch, also outside of the first window.
      try #require(try await subject.value("a", fetch: failing.fetch) == 1)
      try #require(failing.callCount == 1)
      subject.clock.advance(by: .seconds(2))
      try #require(try await subject.value("a") { _ in 2 } == 2)
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `no load gets the value after an error outside of that window`(kind: SubjectKind) throws {
    try SeededSchedule.explore(seeds: 60) { executor in
      let expiry = Expiry.after(.seconds(60), staleWhileRevalidate: .seconds(600), staleIfError: .seconds(30))
      let subject = try Subject(kind, on: executor, expiry: expiry)
      let cache = subject.cache
      cache["a"] = 1
      subject.clock.advance(by: .seconds(100))
      if executor.seed % 2 == 0, kind != .memory { cache.trim(toCost: 0) }
      await #expect(throws: Broken()) {
        try await subject.value("a", policy: .freshElseStale) { _ in throw Broken() }
      }
      // The value is there for other callers.
      try #require(cache.find("a")?.value == 1 && cache.find("a")?.isStale == true)
      subject.clock.advance(by: .seconds(2))
      try #require(try await subject.value("a") { _ in 2 } == 1)
      while subject.inProgressCount > 0 { await Task.yield() }
      try #require(cache["a"] == 2)
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `a fetch that fails after the window gives the error, not the stale value`(kind: SubjectKind) throws {
    try SeededSchedule.explore(seeds: 60) { executor in
      // The value is kept for longer than it may replace a failed fetch.
      let expiry = Expiry.after(.seconds(60), staleWhileRevalidate: .seconds(900), staleIfError: .seconds(600))
      let subject = try Subject(kind, on: executor, expiry: expiry)
      subject.cache["a"] = 1
      subject.clock.advance(by: .seconds(600))
      let gate = Gate()
      let load = subject.load("a", policy: .freshElseStale) { _ in
        try await gate.pass()
        throw Broken()
      }
      await gate.arrivals(atLeast: 1)
      subject.clock.advance(by: .seconds(61))
      gate.open()
      await #expect(throws: Broken()) { try await load.value }
      try #require(subject.findings == [])
    }
  }

  /// The reason why a load returns its older value.
  enum Ending: CaseIterable, Sendable { case failure, failureOfReplaced, timeout, softTimeout }

  @Test(arguments: SubjectKind.caches, Ending.allCases)
  func `a load that accepts stale values up to an age returns none that passes this age during the fetch`(
    kind: SubjectKind, ending: Ending
  ) throws {
    for (seconds, isAccepted) in [(10, true), (11, false)] {
      try SeededSchedule.explore(seeds: 20) { executor in
        let expiry = Expiry.after(.seconds(60), staleWhileRevalidate: .seconds(10), staleIfError: .seconds(86_400))
        let subject = try Subject(kind, on: executor, expiry: expiry)
        subject.cache["a"] = 1
        subject.clock.advance(by: .seconds(80))
        var policy = LoadPolicy.staleAcceptable(upTo: .seconds(30))
        if ending == .timeout { policy = policy.timingOut(after: .seconds(seconds)) }
        if ending == .softTimeout {
          policy = policy.returningStale(after: .seconds(seconds)).timingOut(after: .seconds(seconds))
        }
        let gate = Gate()
        let load = subject.load("a", policy: policy) { _ in
          try await gate.pass()
          throw Broken()
        }
        await gate.arrivals(atLeast: 1)
        if ending == .failureOfReplaced {
          await #expect(throws: Broken()) {
            try await subject.value("a", policy: .fetchAnew) { _ in throw Broken() }
          }
        }
        let timesOut = ending == .timeout || ending == .softTimeout
        while timesOut, subject.clock.sleeperCount == 0 { await Task.yield() }
        subject.clock.advance(by: .seconds(seconds))
        if !timesOut { gate.open() }
        if isAccepted {
          try #require(try await load.value == 1)
        } else {
          let error = await #expect(throws: (any Error).self) { try await load.value }
          try #require(timesOut ? (error as? CisternError)?.code == .timedOut : error as? Broken == Broken())
        }
        gate.open()
        while subject.inProgressCount > 0 { await Task.yield() }
        try #require(subject.findings == [])
      }
    }
  }

  @Test(arguments: SubjectKind.tiered)
  func `the windows of an outcome survive a restart`(kind: SubjectKind) throws {
    try SeededExecutor.run(seed: 1) { executor in
      let subject = try Subject(kind, on: executor)
      _ = try await subject.cache.load("a") { _ in .store(1, expiry: Self.windows) }
      try await subject.tier?.flush()
      let reopened = try subject.reopened()
      subject.clock.advance(by: .seconds(95))
      let failing = ScriptedOrigin<String, Int> { _, _ in .failure(Broken()) }
      try #require(try await reopened.value("a", fetch: failing.fetch) == 1)
      try #require(failing.callCount == 1)
    }
  }

  @Test func `an expiry describes its windows`() {
    #expect(
      "\(Self.windows)"
        == "after 60.0 seconds, stale while revalidated for 30.0 seconds, stale after errors for 600.0 seconds")
    #expect("\(Expiry.after(.seconds(60), graceStale: .seconds(5)))" == "after 60.0 seconds, stale for 5.0 seconds")
  }
}
