import CisternCore
import CisternTesting
import CisternTestSupport
import Testing

/// Values that only the second tier has, while a flight of their key runs or is about to begin.
struct SecondTierBesideFlightTests {
  private static let policies: [LoadPolicy] = [
    .cachedOrFetch, .freshOnly, .freshElseStale, .staleAcceptable(upTo: .seconds(5)),
    .freshElseStale.timingOut(after: .seconds(5)),
  ]

  /// Begins a reload that is in progress until its gate opens, and then fails.
  private static func failingReload(of subject: Subject, until gate: Gate) async -> Task<Int, any Error> {
    let reload = subject.load("a", policy: .reload) { _ in
      try await gate.pass()
      throw Broken()
    }
    await gate.arrivals(atLeast: 1)
    return reload
  }

  @Test(arguments: SubjectKind.tiered, policies)
  func `during a reload, a load returns the fresh value that only the second tier has`(
    kind: SubjectKind, policy: LoadPolicy
  ) throws {
    try SeededSchedule.explore(seeds: 50) { executor in
      let subject = try Subject(kind, on: executor, expiry: .minute)
      let gate = Gate()
      subject.cache["a"] = 1
      subject.cache.trim(toCost: 0)
      let reload = await Self.failingReload(of: subject, until: gate)
      let loaded = try await subject.cache.loadedValue(forKey: "a", policy: policy) { _ in throw Broken(number: 2) }
      try #require(loaded.value == 1 && loaded.source == .secondTier && !loaded.isStale)
      try #require(subject.cache.statistics.joins == 0 && subject.cache.statistics.diskHits == 1)
      if executor.seed % 2 == 0 { subject.cache.trim(toCost: 0) }
      let several = try await subject.cache.values(forKeys: ["a"]) { _ in throw Broken(number: 3) }
      try #require(several.values == ["a": 1] && several.failures.isEmpty)
      gate.open()
      await #expect(throws: Broken()) { try await reload.value }
      try #require(subject.cache["a"] == 1)
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.tiered)
  func `a reload is stored, even if loads found the older value in the second tier`(kind: SubjectKind) throws {
    try SeededSchedule.explore(seeds: 100) { executor in
      let subject = try Subject(kind, on: executor, expiry: .minute)
      let gate = Gate()
      let origin = ScriptedOrigin<String, Int> { _, _ in .gated(gate, .value(2)) }
      subject.cache["a"] = 1
      subject.cache.trim(toCost: 0)
      let reload = subject.load("a", policy: .reload, fetch: origin.fetch)
      await gate.arrivals(atLeast: 1)
      let loads = (0..<3).map { _ in subject.load("a", fetch: origin.fetch) }
      for load in loads { try #require(try await load.value == 1) }
      let second = subject.load("a", policy: .reload, fetch: origin.fetch)
      while subject.cache.statistics.joins == 0 { await Task.yield() }
      gate.open()
      try #require(try await reload.value == 2)
      try #require(try await second.value == 2)
      try #require(origin.callCount == 1)
      try #require(subject.valuesFromBothTiers("a") == [2, 2])
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.tiered)
  func `a stale value that memory evicts during its refresh is still returned, and one fetch runs`(
    kind: SubjectKind
  ) throws {
    try SeededSchedule.explore(seeds: 100) { executor in
      let subject = try Subject(kind, on: executor, expiry: .minute)
      let gate = Gate()
      let origin = ScriptedOrigin<String, Int> { _, _ in .gated(gate, .failure(Broken())) }
      subject.cache["a"] = -1
      subject.clock.advance(by: .seconds(61))
      try #require(try await subject.value("a", fetch: origin.fetch) == -1)
      await gate.arrivals(atLeast: 1)
      subject.cache.trim(toCost: 0)
      let loaded = try await subject.cache.loadedValue(forKey: "a", fetch: origin.fetch)
      try #require(loaded.value == -1 && loaded.isStale && loaded.source == .secondTier)
      subject.cache.trim(toCost: 0)
      let fallsBack = Task(executorPreference: executor) {
        try await subject.cache.loadedValue(forKey: "a", policy: .freshElseStale, fetch: origin.fetch)
      }
      let freshOnly = subject.load("a", policy: .freshOnly, fetch: origin.fetch)
      while subject.cache.statistics.joins < 2 { await Task.yield() }
      gate.open()
      let fallback = try await fallsBack.value
      try #require(fallback.value == -1 && fallback.isStale)
      await #expect(throws: Broken()) { try await freshOnly.value }
      try #require(origin.callCount == 1)
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.tiered, [false, true])
  func `a failed fetch falls back on a stale value that only the second tier has, and the source reports it`(
    kind: SubjectKind, isHeld: Bool
  ) throws {
    try SeededSchedule.explore(seeds: 50) { executor in
      var settings = CacheConfiguration<Int>()
      if !isHeld { settings.weigher = { _ in 10_000_000 } }
      let subject = try Subject(kind, on: executor, expiry: .minute, settings: settings)
      subject.cache["a"] = -1
      subject.clock.advance(by: .seconds(61))
      subject.cache.trim(toCost: 0)
      let gate = Gate()
      let first = Task(executorPreference: executor) {
        try await subject.cache.loadedValue(forKey: "a", policy: .freshElseStale) { _ in
          try await gate.pass()
          throw Broken()
        }
      }
      await gate.arrivals(atLeast: 1)
      let accepted = try await subject.cache.loadedValue(forKey: "a") { _ in throw Broken(number: 2) }
      try #require(accepted.value == -1 && accepted.isStale && accepted.source == (isHeld ? .memory : .secondTier))
      gate.open()
      let loaded = try await first.value
      try #require(loaded.value == -1 && loaded.isStale && loaded.source == .secondTier)
      let statistics = subject.cache.statistics
      try #require(statistics.staleHits == 2 && statistics.memoryHits == (isHeld ? 1 : 0))
      try #require(statistics.diskHits == (isHeld ? 1 : 2))
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.tiered, [false, true])
  func `a value that is due for refresh and only in the second tier is returned immediately and refreshed`(
    kind: SubjectKind, isHeld: Bool
  ) throws {
    try SeededSchedule.explore(seeds: 50) { executor in
      var settings = CacheConfiguration<Int>()
      if !isHeld { settings.weigher = { _ in 10_000_000 } }
      let subject = try Subject(
        kind, on: executor, expiry: .after(.seconds(100)).refreshedAhead(at: 0.8), settings: settings)
      let gate = Gate()
      let origin = ScriptedOrigin<String, Int> { _, number in .gated(gate, .value(number)) }
      subject.cache["a"] = -1
      subject.cache.trim(toCost: 0)
      subject.clock.advance(by: .seconds(85))
      if executor.seed % 2 == 0 {
        let loaded = try await subject.cache.loadedValue(forKey: "a", fetch: origin.fetch)
        try #require(loaded.value == -1 && loaded.source == .secondTier && !loaded.isStale)
      } else {
        let loaded = try await subject.cache.values(forKeys: ["a"]) { keys in try await origin.fetch(keys) }
        try #require(loaded.values == ["a": -1])
      }
      try #require(subject.cache.statistics.refreshes == 1 && subject.cache.statistics.diskHits == 1)
      await gate.arrivals(atLeast: 1)
      // Other loads get the value during the fetch, from either tier, and begin no other fetch.
      let others = (0..<3).map { _ in subject.load("a", fetch: origin.fetch) }
      for other in others { try #require(try await other.value == -1) }
      gate.open()
      while subject.inProgressCount > 0 { await Task.yield() }
      try #require(origin.callCount == 1)
      subject.clock.advance(by: .seconds(50))
      try #require(subject.valuesFromBothTiers("a") == [1, 1])
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.tiered)
  func `a write while the leader reads an older value is neither overwritten nor missed`(kind: SubjectKind) throws {
    try SeededSchedule.explore(seeds: 60) { executor in
      let subject = try Subject(kind, on: executor, expiry: .minute)
      let cache = subject.cache
      cache["a"] = -1
      subject.clock.advance(by: .seconds(61))
      cache.trim(toCost: 0)
      let policy: LoadPolicy = executor.seed % 2 == 0 ? .cachedOrFetch : .freshElseStale
      let isRemoved = executor.seed % 3 == 0
      subject.tier?.setAfterLoad { _ in
        subject.tier?.setAfterLoad { _ in }
        cache["a"] = isRemoved ? nil : 5
      }
      let value = try await subject.value("a", policy: policy) { _ in 7 }
      try #require(value == (isRemoved ? 7 : 5))
      while subject.inProgressCount > 0 { await Task.yield() }
      try #require(subject.valuesFromBothTiers("a") == [value, value])
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.tiered, policies)
  func `a load returns a fresh value that was stored after its look-up beside a flight, also beside the next flight`(
    kind: SubjectKind, policy: LoadPolicy
  ) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Subject(kind, on: executor, expiry: .minute)
      let (cache, gate, loaded) = (subject.cache, Gate(), Recorder<Loaded<Int>>())
      let reload = await Self.failingReload(of: subject, until: gate)
      let tier = try #require(subject.tier)
      tier.setAfterLoad { _ in
        tier.setAfterLoad { _ in }
        cache["a"] = 2
        cache.trim(toCost: 0)
        // Begins another flight, because the set has taken the entry away from the first one.
        cache.refresh("a") { _ in
          try await gate.pass()
          throw Broken()
        }
      }
      let load = Task(executorPreference: executor) {
        loaded.record(try await cache.loadedValue(forKey: "a", policy: policy) { _ in throw Broken(number: 2) })
      }
      // The fetches are in progress still.
      for _ in 0..<100 { await Task.yield() }
      let (elements, statistics) = (loaded.elements, cache.statistics)
      gate.open()
      _ = await load.result
      try #require(statistics.joins == 0 && statistics.diskHits == 1)
      try #require(elements.map(\.value) == [2] && elements.allSatisfy { $0.source == .secondTier && !$0.isStale })
      try #require(await outcome(reload) == .failure("\(Broken())"))
      while subject.inProgressCount > 0 { await Task.yield() }
      try #require(subject.valuesFromBothTiers("a") == [2, 2])
      try #require(subject.findings == [])
    }
  }

  /// A change of a key after the look-up of a load.
  enum Interruption: CaseIterable, Sendable { case removal, tag, olderValue }

  @Test(arguments: SubjectKind.tiered, Interruption.allCases)
  func `a load returns no older value that was removed or replaced after its look-up beside a flight`(
    kind: SubjectKind, interruption: Interruption
  ) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Subject(kind, on: executor, expiry: .minute)
      let (cache, gate) = (subject.cache, Gate())
      cache.setValue(-1, forKey: "a", tags: ["tag"])
      subject.clock.advance(by: .seconds(61))
      cache.trim(toCost: 0)
      let reload = await Self.failingReload(of: subject, until: gate)
      let tier = try #require(subject.tier)
      tier.setAfterLoad { _ in
        tier.setAfterLoad { _ in }
        switch interruption {
        case .removal: cache["a"] = nil
        case .tag: cache.removeAll(tagged: "tag")
        case .olderValue:
          cache["a"] = -2
          subject.clock.advance(by: .seconds(61))
          cache.trim(toCost: 0)
        }
        // Begins another flight, unless the first one is still in progress.
        cache.refresh("a") { _ in
          try await gate.pass()
          throw Broken()
        }
      }
      let load = subject.load("a", policy: .freshElseStale) { _ in throw Broken(number: 2) }
      while cache.statistics.joins == 0 { await Task.yield() }
      gate.open()
      // A value that has replaced the older one is as good.
      try #require(await outcome(load) == (interruption == .olderValue ? .value(-2) : .failure("\(Broken())")))
      try #require(await outcome(reload) == .failure("\(Broken())"))
      while subject.inProgressCount > 0 { await Task.yield() }
      try #require(cache["a"] == nil && subject.findings == [])
    }
  }
}
