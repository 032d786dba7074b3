import CisternCore
import CisternTesting
import CisternTestSupport
import Testing

/// Values that are fresh, stale within their grace, or expired; background refreshes; an origin that fails.
struct StaleValueTests {
  @Test(arguments: SubjectKind.caches)
  func `loads return a value in grace immediately, and all of them together begin one refresh`(
    kind: SubjectKind
  ) throws {
    try SeededSchedule.explore(seeds: 200) { executor in
      let subject = try Subject(kind, on: executor, expiry: .minute)
      let cache = subject.cache
      let gate = Gate()
      let origin = ScriptedOrigin<String, Int> { _, number in .gated(gate, .value(number)) }
      cache["a"] = -1
      subject.clock.advance(by: .seconds(60))
      if kind != .memory, executor.seed % 2 == 0 { cache.trim(toCost: 0) }
      // A lookup that does not accept stale values does not return one.
      try #require(cache["a"] == nil)
      try #require(cache.contains("a") == false)
      try #require(cache.value(forKey: "a", staleUpTo: .seconds(1)) == -1)
      try #require(cache.value(forKey: "a", staleUpTo: .zero) == -1)
      subject.clock.advance(by: .seconds(1))
      try #require(cache.value(forKey: "a", staleUpTo: .milliseconds(500)) == nil)
      let loads = (0..<5).map { _ in subject.load("a", fetch: origin.fetch) }
      for load in loads { try #require(try await load.value == -1) }
      await gate.arrivals(atLeast: 1)
      try #require(cache.statistics.inProgressCount == 1)
      let fresh = subject.load("a", policy: .freshOnly, fetch: origin.fetch)
      await pauseSome(executor)
      gate.open()
      try #require(try await fresh.value == 1)
      while subject.inProgressCount > 0 { await Task.yield() }
      try #require(cache["a"] == 1)
      try #require(origin.callCount == 1)
      try #require(cache.statistics.refreshes == 1)
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `no call and no policy returns a value after its grace`(kind: SubjectKind) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Subject(kind, on: executor, expiry: .minute)
      let cache = subject.cache
      cache["a"] = -1
      subject.clock.advance(by: .seconds(659))
      try #require(cache.value(forKey: "a", staleUpTo: .seconds(10_000)) == -1)
      subject.clock.advance(by: .seconds(1))
      try #require(cache.value(forKey: "a", staleUpTo: .seconds(10_000)) == nil)
      cache["a"] = -1
      subject.clock.advance(by: .seconds(660))
      for policy in [LoadPolicy.cachedOrFetch, .freshElseStale, .staleAcceptable(upTo: .seconds(10_000))] {
        await #expect(throws: Broken(number: 1)) {
          try await subject.value("a", policy: policy) { _ in throw Broken(number: 1) }
        }
      }
      let error = await #expect(throws: CisternError.self) {
        try await subject.value("a", policy: .cachedOnly) { _ in 1 }
      }
      try #require(error?.code == .notCached)
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `a failed refresh leaves the stale value, and no load retries it within the interval`(
    kind: SubjectKind
  ) throws {
    try SeededSchedule.explore(seeds: 100) { executor in
      var settings = CacheConfiguration<Int>()
      settings.refreshRetryInterval = .seconds(10)
      let subject = try Subject(kind, on: executor, expiry: .minute, settings: settings)
      let origin = ScriptedOrigin<String, Int> { _, number in
        .yielding(2, number < 3 ? .failure(Broken()) : .value(number))
      }
      let policy: LoadPolicy = executor.seed % 2 == 0 ? .cachedOrFetch : .freshElseStale
      subject.cache["a"] = -1
      subject.clock.advance(by: .seconds(100))
      for round in 1...2 {
        for _ in 0..<3 {
          let loads = (0..<3).map { _ in subject.load("a", policy: policy, fetch: origin.fetch) }
          for load in loads { try #require(try await load.value == -1) }
          while subject.inProgressCount > 0 { await Task.yield() }
          try #require(origin.callCount == round)
        }
        subject.clock.advance(by: .seconds(9))
        try #require(try await subject.value("a", policy: policy, fetch: origin.fetch) == -1)
        try #require(origin.callCount == round)
        subject.clock.advance(by: .seconds(1))
      }
      _ = try await subject.value("a", policy: policy, fetch: origin.fetch)
      while subject.inProgressCount > 0 { await Task.yield() }
      try #require(subject.cache["a"] == 3)
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `fresh-only waits and throws, cached-only neither fetches nor waits, and reload always fetches`(
    kind: SubjectKind
  ) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Subject(kind, on: executor, expiry: .minute)
      let cache = subject.cache
      let broken: Subject.Fetch = { _ in throw Broken() }
      let error = await #expect(throws: CisternError.self) {
        try await subject.value("a", policy: .cachedOnly, fetch: broken)
      }
      try #require(error?.code == .notCached)
      cache["a"] = 1
      for policy in [LoadPolicy.cachedOrFetch, .freshOnly, .freshElseStale, .cachedOnly] {
        try #require(try await subject.value("a", policy: policy, fetch: broken) == 1)
      }
      await #expect(throws: Broken()) { try await subject.value("a", policy: .reload, fetch: broken) }
      try #require(cache["a"] == 1)
      try #require(try await subject.value("a", policy: .reload) { _ in 2 } == 2)
      try #require(cache["a"] == 2)
      try #require(try await cache.refreshValue(forKey: "a") { _ in 3 } == 3)
      try #require(cache["a"] == 3)
      subject.clock.advance(by: .seconds(90))
      await #expect(throws: Broken()) { try await subject.value("a", policy: .freshOnly, fetch: broken) }
      try #require(try await subject.value("a", policy: .cachedOnly, fetch: broken) == 3)
      try #require(try await subject.value("a", policy: .staleAcceptable(upTo: .seconds(30)), fetch: broken) == 3)
      await #expect(throws: Broken()) {
        try await subject.value("a", policy: .staleAcceptable(upTo: .seconds(29)), fetch: broken)
      }
      while subject.inProgressCount > 0 { await Task.yield() }
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `a load late in a lifetime triggers a refresh, so that a value in use never expires`(
    kind: SubjectKind
  ) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Subject(kind, on: executor, expiry: .after(.seconds(60)).refreshedAhead(at: 0.75))
      let origin = ScriptedOrigin<String, Int> { _, number in .value(number) }
      try #require(try await subject.value("a", fetch: origin.fetch) == 1)
      for round in 1...10 {
        subject.clock.advance(by: .seconds(44))
        try #require(try await subject.value("a", fetch: origin.fetch) == round)
        try #require(origin.callCount == round)
        if round == 5, kind != .memory { subject.cache.trim(toCost: 0) }
        subject.clock.advance(by: .seconds(2))
        try #require(subject.cache["a"] == round)
        try #require(try await subject.value("a", fetch: origin.fetch) == round)
        while subject.inProgressCount > 0 { await Task.yield() }
        try #require(origin.callCount == round + 1)
        try #require(subject.cache["a"] == round + 1)
      }
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `in the last part of a lifetime loads begin one fetch, and none waits for it`(
    kind: SubjectKind
  ) throws {
    try SeededSchedule.explore(seeds: 200) { executor in
      let subject = try Subject(kind, on: executor, expiry: .after(.seconds(60)).refreshedAhead(at: 0.75))
      let gate = Gate()
      let origin = ScriptedOrigin<String, Int> { _, number in .gated(gate, .value(number)) }
      subject.cache["a"] = -1
      subject.clock.advance(by: .seconds(46))
      if kind != .memory, executor.seed % 2 == 0 { subject.cache.trim(toCost: 0) }
      let loads = (0..<5).map { index in
        Task(executorPreference: executor) {
          var generator = SeededGenerator(seed: executor.seed * 5 + UInt64(index))
          await pause(&generator)
          return try await subject.value("a", fetch: origin.fetch)
        }
      }
      for load in loads { try #require(try await load.value == -1) }
      await gate.arrivals(atLeast: 1)
      // The value is fresh until its last instant, and then gone. The fetch still runs.
      subject.clock.advance(by: .seconds(executor.seed % 4 < 2 ? 13 : 14))
      try #require(subject.cache["a"] == (executor.seed % 4 < 2 ? -1 : nil))
      let late = subject.load("a", policy: .freshOnly, fetch: origin.fetch)
      await pauseSome(executor)
      gate.open()
      try #require([executor.seed % 4 < 2 ? -1 : 1, 1].contains(try await late.value))
      while subject.inProgressCount > 0 { await Task.yield() }
      try #require(subject.cache["a"] == 1)
      try #require(origin.callCount == 1)
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `a set or removal during a refresh wins, and the refresh is dropped`(kind: SubjectKind) throws {
    try SeededSchedule.explore(seeds: 200) { executor in
      let subject = try Subject(kind, on: executor, expiry: .minute)
      let origin = ScriptedOrigin<String, Int> { _, number in .yielding(3, .value(number)) }
      subject.cache["a"] = -1
      subject.clock.advance(by: .seconds(61))
      try #require(try await subject.value("a", fetch: origin.fetch) == -1)
      await pauseSome(executor)
      let wasRunning = subject.inProgressCount > 0
      if executor.seed % 2 == 0 { subject.cache["a"] = -2 } else { subject.cache.removeValue(forKey: "a") }
      while origin.runningCount > 0 || subject.inProgressCount > 0 { await Task.yield() }
      if wasRunning || executor.seed % 2 == 0 {
        let expected = executor.seed % 2 == 0 ? -2 : nil
        try #require(subject.cache["a"] == expected)
        if kind != .memory { for value in subject.valuesFromBothTiers("a") { try #require(value == expected) } }
      }
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `eviction of a value during its refresh does not stop the refresh from being stored`(kind: SubjectKind) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Subject(kind, on: executor, expiry: .minute, memoryLimit: 16)
      let gate = Gate()
      let origin = ScriptedOrigin<String, Int> { _, number in .gated(gate, .value(number)) }
      subject.cache["a"] = -1
      subject.clock.advance(by: .seconds(61))
      try #require(try await subject.value("a", fetch: origin.fetch) == -1)
      await gate.arrivals(atLeast: 1)
      subject.cache.trim(toCost: 0)
      try #require(subject.inProgressCount == 1)
      gate.open()
      while subject.inProgressCount > 0 { await Task.yield() }
      try #require(subject.cache["a"] == 1)
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.tiered)
  func `grace outlives a restart, and a clock set back or forward does not lengthen it`(kind: SubjectKind) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Subject(kind, on: executor, expiry: .minute)
      subject.cache["a"] = -1
      try await subject.tier?.flush()
      subject.clock.moveWallTime(by: .seconds(120))
      let reopened = try subject.reopened(after: true)
      try #require(reopened.cache["a"] == nil)
      try #require(reopened.cache.value(forKey: "a", staleUpTo: .seconds(60)) == -1)
      try #require(reopened.cache.value(forKey: "a", staleUpTo: .seconds(59)) == nil)
      reopened.cache.trim(toCost: 0)
      try #require(try await reopened.value("a") { _ in throw Broken() } == -1)
      while reopened.inProgressCount > 0 { await Task.yield() }
      reopened.clock.moveWallTime(by: .seconds(-3_600))
      reopened.clock.advance(by: .seconds(540))
      try #require(reopened.cache.value(forKey: "a", staleUpTo: .seconds(10_000)) == nil)
      try #require(reopened.findings == [])
    }
  }

  private func pauseSome(_ executor: SeededExecutor) async {
    var generator = SeededGenerator(seed: executor.seed)
    await pause(&generator)
  }
}
