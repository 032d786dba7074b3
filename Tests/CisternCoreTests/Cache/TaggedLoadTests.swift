import CisternCore
import CisternTesting
import CisternTestSupport
import Testing

/// Invalidations by tag or prefix during loads.
struct TaggedLoadTests {
  @Test(arguments: SubjectKind.caches, InvalidationWay.allCases)
  func `after an invalidation at any instant of a load, no later load returns its value`(
    kind: SubjectKind, way: InvalidationWay
  ) throws {
    try SeededSchedule.explore(seeds: 200) { executor in
      let subject = try Subject(kind, on: executor, settings: .taggingOdd)
      let cache = subject.cache
      // The values are always odd: 1, 3, 5, …
      let origin = ScriptedOrigin<String, Int> { _, number in .yielding(3, .value(2 * number - 1)) }
      @Sendable func load() -> Task<Int, any Error> {
        Task(executorPreference: executor) {
          try await cache.value(forKey: "a/1", tags: ["news"], fetch: origin.fetch)
        }
      }
      let loads = (0..<3).map { _ in load() }
      while origin.callCount == 0 { await Task.yield() }
      var generator = SeededGenerator(seed: executor.seed)
      await pause(&generator)
      let begun = origin.callCount
      way.apply(to: cache)
      // A predicate applies only to stored values. A removal by predicate does not stop a running flight.
      guard way != .predicate else { return }
      try #require(cache["a/1"] == nil || origin.callCount > begun)
      let later = load()
      try #require(try await later.value > 2 * begun - 1)
      let outcomes = Set([await outcome(loads[0]), await outcome(loads[1]), await outcome(loads[2])])
      for case .value(let number) in outcomes { try #require(number >= 1) }
      while origin.runningCount > 0 || subject.inProgressCount > 0 { await Task.yield() }
      try #require(cache["a/1"].map { $0 > 2 * begun - 1 } ?? true)
      if kind != .memory {
        cache.trim(toCost: 0)
        try #require(cache["a/1"].map { $0 > 2 * begun - 1 } ?? true)
      }
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `a load that joins a flight after an invalidation does not get its value, even after a write`(
    kind: SubjectKind
  ) throws {
    try SeededExecutor.run(seed: 0) { executor in
      for isBulk in [false, true] {
        for isWritten in [false, true] {
          let subject = try Subject(kind, on: executor, settings: .taggingOdd)
          let cache = subject.cache
          let (gate, started) = (Gate(isOpen: false), Gate(isOpen: false))
          let early = Task(executorPreference: executor) {
            try await cache.value(forKey: "a/1") { _ in
              started.open()
              try await gate.pass()
              return 1
            }
          }
          try await started.pass()
          InvalidationWay.tagOfValue.apply(to: cache)
          let late = Task(executorPreference: executor) { () async throws -> Int? in
            if isBulk { return try await cache.values(forKeys: ["a/1"]) { _ in ["a/1": 5] }["a/1"] }
            return try await cache.value(forKey: "a/1") { _ in 5 }
          }
          while cache.statistics.waiterCount < 2 { await Task.yield() }
          if isWritten { cache["a/1"] = 3 }
          gate.open()
          try #require(try await early.value == 1)
          try #require(try await late.value == (isWritten ? 3 : 5))
        }
      }
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `a load that joins a flight between two invalidations, or after both, does not get its value`(
    kind: SubjectKind
  ) throws {
    try SeededSchedule.explore(seeds: 50) { executor in
      let subject = try Subject(kind, on: executor)
      let cache = subject.cache
      let gate = Gate()
      let origin = ScriptedOrigin<String, Int> { _, number in .gated(gate, .value(number)) }
      @Sendable func load() -> Task<Int, any Error> {
        Task(executorPreference: executor) { try await cache.value(forKey: "a", tags: ["news"], fetch: origin.fetch) }
      }
      let before = load()
      await gate.arrivals(atLeast: 1)
      cache.removeAll(tagged: "news")
      let between = load()
      while cache.statistics.waiterCount < 2 { await Task.yield() }
      if executor.seed % 2 == 0 { cache.removeAll(tagged: "news") } else { cache.removeAll(tagged: "other") }
      // With and without the sweep that removes the invalidation.
      for _ in 0..<(executor.seed % 3 == 0 ? 0 : 200) { await Task.yield() }
      let after = load()
      while cache.statistics.waiterCount < 3 { await Task.yield() }
      gate.open()
      try #require(try await before.value == 1)
      try #require(try await between.value > 1)
      try #require(try await after.value > 1)
      while subject.inProgressCount > 0 { await Task.yield() }
      try #require(cache["a"].map { $0 > 1 } ?? true)
      try #require(subject.findings == [])
    }
  }
}
