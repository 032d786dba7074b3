import CisternTestSupport
import CisternTesting
import Testing

@testable import CisternCore

/// Fetches that join no older flight, and refreshes without a waiter.
struct AnewAndRefreshTests {
  private static let minute = Expiry.after(.seconds(60), graceStale: .seconds(600))

  /// Returns a subject whose pauses last ten seconds.
  private func pausing(_ kind: SubjectKind, on executor: SeededExecutor) throws -> Subject {
    var settings = CacheConfiguration<Int>()
    settings.refreshRetryInterval = .seconds(10)
    return try Subject(kind, on: executor, expiry: Self.minute, settings: settings)
  }

  /// Requires that a refresh starts nothing now, and that one after the pause of ten seconds stores its value.
  private func requirePause(of subject: Subject) async throws {
    let cache = subject.cache
    try #require(!cache.refresh("a") { _ in .store(99) })
    subject.clock.advance(by: .seconds(11))
    try #require(cache.refresh("a") { _ in .store(5) })
    while subject.inProgressCount > 0 { await Task.yield() }
    try #require(cache["a"] == 5)
    try #require(subject.findings == [])
  }

  @Test(arguments: SubjectKind.caches)
  func `a load that fetches anew replaces an older flight, whose waiters get their result`(kind: SubjectKind) throws {
    try SeededSchedule.explore(seeds: 100) { executor in
      let subject = try Subject(kind, on: executor, expiry: Self.minute)
      let cache = subject.cache
      if executor.seed % 2 == 0 { cache["a"] = 0 }
      let (older, newer) = (Gate(), Gate())
      let first = subject.load("a", policy: .reload) { _ in
        try await older.pass()
        return 1
      }
      await older.arrivals(atLeast: 1)
      let second = subject.load("a", policy: .fetchAnew) { _ in
        try await newer.pass()
        return 2
      }
      await newer.arrivals(atLeast: 1)
      let third = subject.load("a", policy: .reload) { _ in 99 }
      while cache.statistics.joins == 0 { await Task.yield() }
      let order = executor.seed % 3 == 0 ? [older, newer] : [newer, older]
      for gate in order { gate.open() }
      try #require(try await first.value == 1)
      try #require(try await second.value == 2)
      try #require(try await third.value == 2)
      try #require(subject.valuesFromBothTiers("a") == (kind == .memory ? [2, nil] : [2, 2]))
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `a requested refresh returns at once, starts one flight, and pauses after a failure`(kind: SubjectKind) throws {
    try SeededSchedule.explore(seeds: 50) { executor in
      var settings = CacheConfiguration<Int>()
      settings.refreshRetryInterval = .seconds(10)
      let subject = try Subject(kind, on: executor, expiry: Self.minute, settings: settings)
      let cache = subject.cache
      let hasValue = executor.seed % 2 == 0
      if hasValue { cache["a"] = 0 }
      let gate = Gate()
      let started = cache.refresh("a") { context in
        try await gate.pass()
        return .store((context.stored?.value ?? 10) + 1)
      }
      try #require(started && !cache.refresh("a") { _ in .store(99) })
      await gate.arrivals(atLeast: 1)
      try #require(cache["a"] == (hasValue ? 0 : nil))
      let joined = subject.load("a", policy: .reload) { _ in 99 }
      while cache.statistics.joins == 0 { await Task.yield() }
      gate.open()
      try #require(try await joined.value == (hasValue ? 1 : 11))
      // A failure starts a pause, also without a value.
      if !hasValue { cache["a"] = nil }
      try #require(cache.refresh("a") { _ in throw Broken() })
      while subject.inProgressCount > 0 { await Task.yield() }
      try await requirePause(of: subject)
    }
  }

  @Test func `a requested refresh continues after the flight that all callers left`() throws {
    try SeededSchedule.explore(seeds: 50) { executor in
      let subject = try Subject(.twoTiers, on: executor)
      let gate = Gate()
      let load = subject.load("a") { _ in
        await gate.passUncancelled()
        return 1
      }
      await gate.arrivals(atLeast: 1)
      load.cancel()
      _ = await outcome(load)
      try #require(subject.cache.refresh("a") { _ in .store(2) })
      gate.open()
      while subject.inProgressCount > 0 { await Task.yield() }
      try #require(subject.cache["a"] == 2)
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches, [false, true])
  func `a refresh that fails begins a pause, also if a load has joined it`(kind: SubjectKind, byLoad: Bool) throws {
    try SeededSchedule.explore(seeds: 50) { executor in
      var settings = CacheConfiguration<Int>()
      settings.refreshRetryInterval = .seconds(10)
      let subject = try Subject(kind, on: executor, expiry: Self.minute, settings: settings)
      let cache = subject.cache
      let hasValue = byLoad || executor.seed % 2 == 0
      if hasValue { cache["a"] = 0 }
      let gate = Gate()
      let fetch: Subject.Fetch = { _ in
        try await gate.pass()
        throw Broken()
      }
      if byLoad {
        // A load of a stale value begins the refresh.
        subject.clock.advance(by: .seconds(61))
        try #require(try await subject.value("a", fetch: fetch) == 0)
      } else {
        try #require(cache.refresh("a") { _ in .store(try await fetch("a")) })
      }
      await gate.arrivals(atLeast: 1)
      let joined = subject.load("a", policy: .reload) { _ in 99 }
      while cache.statistics.joins == 0 { await Task.yield() }
      gate.open()
      try #require(await outcome(joined) == .failure("\(Broken())"))
      try #require(!cache.refresh("a") { _ in .store(99) })
      // A write since does not end the pause.
      cache["a"] = 1
      try await requirePause(of: subject)
    }
  }

  @Test(arguments: SubjectKind.tiered)
  func `a pause outlives the eviction of a newer value, and its next read`(kind: SubjectKind) throws {
    try SeededExecutor.run(seed: 0) { executor in
      var settings = CacheConfiguration<Int>()
      settings.refreshRetryInterval = .seconds(10)
      let subject = try Subject(kind, on: executor, expiry: Self.minute, settings: settings)
      let cache = subject.cache
      cache["a"] = 0
      try #require(cache.refresh("a") { _ in throw Broken() })
      while subject.inProgressCount > 0 { await Task.yield() }
      subject.clock.advance(by: .seconds(1))
      cache["a"] = 1
      cache.trim(toCost: 0)
      try #require(cache["a"] == 1)
      try await requirePause(of: subject)
    }
  }

  @Test(arguments: SubjectKind.caches, [LoadPolicy.cachedOrFetch, .freshOnly, .reload, .fetchAnew])
  func `the failed load of a key without a value does not prevent a refresh`(
    kind: SubjectKind, policy: LoadPolicy
  ) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try pausing(kind, on: executor)
      await #expect(throws: Broken()) { try await subject.value("a", policy: policy) { _ in throw Broken() } }
      try #require(subject.cache.refresh("a") { _ in .store(5) })
      while subject.inProgressCount > 0 { await Task.yield() }
      try #require(subject.cache["a"] == 5 && subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `the timeout of a reload of a key without a value does not prevent a refresh`(kind: SubjectKind) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try pausing(kind, on: executor)
      let gate = Gate()
      let load = subject.load("a", policy: .reload.timingOut(after: .seconds(2))) { _ in
        try await gate.pass()
        return 1
      }
      while subject.clock.sleeperCount == 0 { await Task.yield() }
      await gate.arrivals(atLeast: 1)
      subject.clock.advance(by: .seconds(2))
      _ = await outcome(load)
      while subject.inProgressCount > 0 { await Task.yield() }
      try #require(subject.cache.refresh("a") { _ in .store(5) })
      while subject.inProgressCount > 0 { await Task.yield() }
      try #require(subject.cache["a"] == 5 && subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches, [false, true])
  func `a failed reload delays the refresh of a stale value alone, whichever tier has it`(
    kind: SubjectKind, isStale: Bool
  ) throws {
    for isEvicted in kind == .memory ? [false] : [false, true] {
      try SeededExecutor.run(seed: 0) { executor in
        let subject = try pausing(kind, on: executor)
        subject.cache["a"] = 0
        subject.clock.advance(by: .seconds(isStale ? 61 : 1))
        if isEvicted { subject.cache.trim(toCost: 0) }
        _ = await outcome(subject.load("a", policy: .reload) { _ in throw Broken() })
        if isEvicted { subject.cache.trim(toCost: 0) }
        if isStale { return try await requirePause(of: subject) }
        try #require(subject.cache.refresh("a") { _ in .store(5) })
        while subject.inProgressCount > 0 { await Task.yield() }
        try #require(subject.cache["a"] == 5 && subject.findings == [])
      }
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `a load that fails after a refresh does not end the pause`(kind: SubjectKind) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try pausing(kind, on: executor)
      try #require(subject.cache.refresh("a") { _ in throw Broken() })
      while subject.inProgressCount > 0 { await Task.yield() }
      subject.clock.advance(by: .seconds(1))
      await #expect(throws: Broken()) { try await subject.value("a", policy: .reload) { _ in throw Broken() } }
      try await requirePause(of: subject)
    }
  }

  @Test func `a refresh finds a pause that begins after its request`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Subject(.memory, on: executor, expiry: Self.minute)
      let table = subject.cache.table
      let key = table.hashed("a")
      let now = MonotonicTime(nanoseconds: 5)
      func decides(at time: MonotonicTime) -> Bool {
        switch table.refresh(key, at: time, makeFlight: { Flight(priority: .medium) }) {
        case .start(let flight):
          table.end(flight, of: key)
          return true
        case .decline, .expired:
          return false
        }
      }
      try #require(decides(at: now))
      // The request has read the clock, and the flight of another request fails before the critical section.
      table.retryPauses.add(
        RetryPause(end: MonotonicTime(nanoseconds: 10), start: WallTime(nanosecondsSince1970: 0)), for: key,
        ofRefresh: true)
      try #require(!decides(at: now))
      try #require(decides(at: MonotonicTime(nanoseconds: 10)))
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches, [false, true])
  func `a load that fails after its callers left pauses refreshes only of a key with a value`(
    kind: SubjectKind, hasValue: Bool
  ) throws {
    try SeededExecutor.run(seed: 0) { executor in
      var settings = CacheConfiguration<Int>()
      settings.refreshRetryInterval = .seconds(10)
      let subject = try Subject(
        kind, on: executor, completesAbandonedFlights: true, expiry: Self.minute, settings: settings)
      if hasValue { subject.cache["a"] = 0 }
      let gate = Gate()
      let load = subject.load("a", policy: .reload) { _ in
        await gate.passUncancelled()
        throw Broken()
      }
      await gate.arrivals(atLeast: 1)
      load.cancel()
      _ = await outcome(load)
      gate.open()
      while subject.inProgressCount > 0 { await Task.yield() }
      if hasValue { return try await requirePause(of: subject) }
      try #require(subject.cache.refresh("a") { _ in .store(5) })
      while subject.inProgressCount > 0 { await Task.yield() }
      try #require(subject.cache["a"] == 5 && subject.findings == [])
    }
  }
}
