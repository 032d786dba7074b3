import CisternTesting
import CisternTestSupport
import Testing

@testable import CisternCore

/// After a fetch failed or timed out, the cache pauses requests to the origin, whether or not memory keeps the entry.
struct RetryPauseTests {
  private static let minute = Expiry.after(.seconds(60), graceStale: .seconds(6_000))

  private func settings(_ interval: Duration) -> CacheConfiguration<Int> {
    var settings = CacheConfiguration<Int>()
    settings.refreshRetryInterval = interval
    return settings
  }

  @Test(arguments: SubjectKind.tiered, [LoadPolicy.cachedOrFetch, .freshElseStale])
  func `a key that memory evicts costs a failing origin one request per interval`(
    kind: SubjectKind, policy: LoadPolicy
  ) throws {
    try SeededSchedule.explore(seeds: 30) { executor in
      let subject = try Subject(kind, on: executor, expiry: Self.minute, settings: settings(.seconds(60)))
      let origin = ScriptedOrigin<String, Int> { _, _ in .yielding(2, .failure(Broken())) }
      subject.cache["a"] = -1
      subject.clock.advance(by: .seconds(61))
      for round in 1...3 {
        for _ in 0..<10 {
          // The eviction comes before the load, or during its fetch.
          if executor.seed % 2 == 0 { subject.cache.trim(toCost: 0) }
          let load = subject.load("a", policy: policy, fetch: origin.fetch)
          if executor.seed % 3 == 0 {
            while origin.runningCount == 0, subject.inProgressCount > 0 { await Task.yield() }
          }
          subject.cache.trim(toCost: 0)
          try #require(try await load.value == -1)
          while subject.inProgressCount > 0 { await Task.yield() }
          subject.clock.advance(by: .seconds(1))
        }
        try #require(origin.callCount == round)
        try #require(subject.cache.statistics.failures == round)
        subject.clock.advance(by: .seconds(51))
      }
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.tiered)
  func `a value written after a failure is refreshed as any other`(kind: SubjectKind) throws {
    try SeededSchedule.explore(seeds: 30) { executor in
      let subject = try Subject(kind, on: executor, expiry: Self.minute, settings: settings(.seconds(1_000)))
      let origin = ScriptedOrigin<String, Int> { _, number in
        .yielding(2, number == 1 ? .failure(Broken()) : .value(number))
      }
      subject.cache["a"] = -1
      subject.clock.advance(by: .seconds(61))
      try #require(try await subject.value("a", policy: .freshElseStale, fetch: origin.fetch) == -1)
      subject.clock.advance(by: .seconds(1))
      subject.cache["a"] = -2
      subject.clock.advance(by: .seconds(61))
      subject.cache.trim(toCost: 0)
      try #require(try await subject.value("a", policy: .freshElseStale, fetch: origin.fetch) == 2)
      try #require(origin.callCount == 2)
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches, [false, true])
  func `after a timeout the stale value is returned immediately until the interval ends`(
    kind: SubjectKind, completes: Bool
  ) throws {
    try SeededSchedule.explore(seeds: 50) { executor in
      let subject = try Subject(
        kind, on: executor, completesAbandonedFlights: completes, expiry: Self.minute, settings: settings(.seconds(10)))
      let gate = Gate()
      let origin = ScriptedOrigin<String, Int> { _, number in .gated(gate, .value(number)) }
      let policy = LoadPolicy.freshElseStale.timingOut(after: .seconds(2))
      subject.cache["a"] = -1
      subject.clock.advance(by: .seconds(61))
      let first = subject.load("a", policy: policy, fetch: origin.fetch)
      while subject.clock.sleeperCount == 0 || origin.callCount == 0 { await Task.yield() }
      subject.clock.advance(by: .seconds(2))
      try #require(try await first.value == -1)
      while !completes, subject.inProgressCount > 0 { await Task.yield() }
      for _ in 0..<5 {
        if kind != .memory { subject.cache.trim(toCost: 0) }
        try #require(try await subject.value("a", policy: policy, fetch: origin.fetch) == -1)
        try #require(try await subject.value("a", fetch: origin.fetch) == -1)
        subject.clock.advance(by: .seconds(1))
      }
      try #require(subject.cache.statistics.timeouts == 1)
      try #require(origin.callCount == 1)
      if completes {
        // The flight continues, and its value is stored.
        gate.open()
        while subject.inProgressCount > 0 { await Task.yield() }
        try #require(subject.cache["a"] == 1)
      } else {
        subject.clock.advance(by: .seconds(5))
        let next = subject.load("a", policy: policy, fetch: origin.fetch)
        while origin.callCount < 2 { await Task.yield() }
        gate.open()
        try #require(try await next.value == 2)
      }
      try #require(subject.findings == [])
    }
  }

  @Test func `pauses take memory for a bounded number of keys, and the newest are kept`() {
    let pauses = RetryPauses<UInt64>()
    func key(_ number: UInt64) -> HashedKey<UInt64> { HashedKey(number, hash: number) }
    #expect(pauses.isEmpty)
    let limit = RetryPauses<UInt64>.limit
    let count = UInt64(limit) * 3
    for number in 0..<count {
      pauses.add(
        RetryPause(end: MonotonicTime(nanoseconds: 100 + number), start: WallTime(nanosecondsSince1970: 50)),
        for: key(number), ofRefresh: false)
    }
    #expect(!pauses.isEmpty && pauses.count <= limit)
    let (early, late) = (WallTime(nanosecondsSince1970: 1), WallTime(nanosecondsSince1970: 50))
    let now = MonotonicTime(nanoseconds: 99)
    for number in (count - UInt64(limit) / 2)..<count {
      let end = pauses.pause(for: key(number), created: early, now: now)?.end
      guard end == MonotonicTime(nanoseconds: 100 + number) else {
        Issue.record("the pause of \(number) is missing")
        return
      }
    }
    // A pause applies neither to a record that was written after it began, nor after its end.
    #expect(pauses.pause(for: key(count - 1), created: late, now: now) == nil)
    #expect(pauses.pause(for: key(count - 2), created: early, now: MonotonicTime(nanoseconds: 98 + count)) == nil)
    #expect(pauses.pause(for: key(count), created: early, now: now) == nil)
  }

  @Test func `a pause does not shorten an earlier one of its key, and a later pause replaces it`() {
    let pauses = RetryPauses<UInt64>()
    let key = HashedKey<UInt64>(1, hash: 1)
    func time(_ nanoseconds: UInt64) -> MonotonicTime { MonotonicTime(nanoseconds: nanoseconds) }
    for (added, end) in [(60, 60), (2, 60), (70, 70)] as [(UInt64, UInt64)] {
      let pause = RetryPause(end: time(added), start: WallTime(nanosecondsSince1970: 50))
      pauses.add(pause, for: key, ofRefresh: true)
      let created = WallTime(nanosecondsSince1970: 1)
      #expect(pauses.pause(for: key, created: created, now: time(1))?.end == time(end))
      #expect(pauses.holds(for: key, at: time(end - 1)) && !pauses.holds(for: key, at: time(end)))
      #expect(pauses.holdsAfterRefresh(of: key, at: time(end - 1)) && !pauses.holdsAfterRefresh(of: key, at: time(end)))
    }
  }

  @Test(arguments: SubjectKind.caches, [false, true])
  func `a fetch that the breaker rejects does not shorten the pause after a failure`(
    kind: SubjectKind, refreshes: Bool
  ) throws {
    try SeededExecutor.run(seed: 0) { executor in
      var settings = settings(.seconds(60))
      settings.circuitBreaker = CircuitBreaker(opensAfter: .consecutiveFailures(1), openDuration: .seconds(2))
      let subject = try Subject(kind, on: executor, expiry: Self.minute, settings: settings)
      let cache = subject.cache
      let origin = ScriptedOrigin<String, Int> { _, number in number == 1 ? .failure(Broken()) : .value(number) }
      cache["a"] = -1
      subject.clock.advance(by: .seconds(61))
      if refreshes {
        try #require(cache.refresh("a") { context in .store(try await origin.fetch(context.key)) })
        while subject.inProgressCount > 0 { await Task.yield() }
      } else {
        try #require(try await subject.value("a", policy: .freshElseStale, fetch: origin.fetch) == -1)
      }
      let error = await #expect(throws: CisternError.self) {
        try await subject.value("a", policy: .reload, fetch: origin.fetch)
      }
      try #require(error?.code == .circuitOpen)
      for seconds in [3, 56] {
        subject.clock.advance(by: .seconds(seconds))
        if kind != .memory { cache.trim(toCost: 0) }
        try #require(try await subject.value("a", policy: .freshElseStale, fetch: origin.fetch) == -1)
        try #require(!cache.refresh("a") { _ in .store(99) })
        try #require(origin.callCount == 1)
      }
      subject.clock.advance(by: .seconds(2))
      try #require(try await subject.value("a", policy: .freshElseStale, fetch: origin.fetch) == 2)
      try #require(subject.findings == [])
    }
  }

  @Test func `a value states whether its pause permits the stale value, and takes the last one of two`() {
    func time(_ nanoseconds: UInt64) -> MonotonicTime { MonotonicTime(nanoseconds: nanoseconds) }
    let value = Deadlines(freshUntil: time(5), goneFrom: time(100))
    for (end, permits) in (10...13).flatMap({ end in [true, false].map { (UInt64(end), $0) } }) {
      let pause = RetryPause(
        end: time(end), start: WallTime(nanosecondsSince1970: 0), permitsFallback: permits)
      let former = RetryPause(
        end: time(end), start: WallTime(nanosecondsSince1970: 0), permitsFallback: !permits)
      for earlier in [value, value.postponingRefresh(during: former)] {
        let paused = earlier.postponingRefresh(during: pause)
        var uses = StaleUses()
        #expect(paused.freshness(at: time(end)) == .stale(by: end - 5, refreshDue: true, uses: uses))
        uses.insteadOfFetch = permits
        #expect(paused.freshness(at: time(end - 2)) == .stale(by: end - 7, refreshDue: false, uses: uses))
      }
    }
    let forever = Deadlines(freshUntil: .distantFuture)
    let pause = RetryPause(end: time(10), start: WallTime(nanosecondsSince1970: 0))
    #expect(forever.postponingRefresh(during: pause).refreshFrom == .distantFuture)
  }
}
