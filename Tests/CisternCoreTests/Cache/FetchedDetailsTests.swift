import CisternCore
import CisternTestSupport
import CisternTesting
import Testing

/// The details of a fetched value, in caches whose stored value depends on the cached one and in others.
struct FetchedDetailsTests {
  enum Dependence: CaseIterable, Sendable {
    case none, merge, isEqual

    var configuration: CacheConfiguration<Fields> {
      var configuration = CacheConfiguration<Fields>()
      switch self {
      case .none: break
      case .merge: configuration.merge = mergeFields
      case .isEqual: configuration.isEqual = { $0 == $1 }
      }
      return configuration
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases, Dependence.allCases)
  func `a fetched value has its lifetime and its tags, below unconfirmed edits, too`(
    kind: FieldsSubject.Kind, dependence: Dependence
  ) throws {
    for isEdited in [false, true] {
      try SeededExecutor.run(seed: 0) { executor in
        let subject = try FieldsSubject(kind, on: executor, configuration: dependence.configuration)
        let cache = subject.cache
        let begun = isEdited ? await subject.beginEdit("edited", fails: true) : nil
        let loaded = [
          try await cache.loadedValue(forKey: "k", expiry: .after(.seconds(10)), tags: ["tag"], policy: .reload) { _ in
            ["loaded": 1]
          },
          try await cache.load("k", policy: .reload) { _ in
            .store(["loaded": 1], expiry: .after(.seconds(10)), tags: ["tag"])
          },
        ]
        for loaded in loaded {
          try #require(loaded?.value == ["loaded": 1])
          try #require(loaded?.tags == ["tag"])
          try #require(loaded?.remainingLifetime == .seconds(10))
          try #require(loaded?.age == .zero)
        }
        begun?.gate.open()
        _ = await begun?.edit.result
        try #require(cache.find("k")?.tags == ["tag"])
        try #require(subject.findings == [])
      }
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases, Dependence.allCases)
  func `a load after an invalidation does not get a value without a lifetime that was fetched before`(
    kind: FieldsSubject.Kind, dependence: Dependence
  ) throws {
    for isEdited in [false, true] {
      try SeededSchedule.explore(seeds: 20) { executor in
        let subject = try FieldsSubject(kind, on: executor, configuration: dependence.configuration)
        let cache = subject.cache
        let begun = isEdited ? await subject.beginEdit("edited", fails: true) : nil
        let (gate, fetches) = (Gate(), Recorder<Void>())
        let load = { @Sendable in
          try await cache.value(forKey: "k", expiry: .after(.zero), tags: ["tag"], policy: .reload) { _ in
            fetches.record(())
            let number = fetches.count
            try await gate.pass()
            return ["loaded": number]
          }
        }
        let first = subject.task(load)
        await gate.arrivals(atLeast: 1)
        cache.removeAll(tagged: "tag")
        let second = subject.task(load)
        while cache.statistics.joins == 0 { await Task.yield() }
        gate.open()
        try #require(try await first.value == ["loaded": 1])
        try #require(try await second.value == ["loaded": 2])
        begun?.gate.open()
        _ = await begun?.edit.result
        try #require(cache["k"] == nil)
        try #require(subject.findings == [])
      }
    }
  }

  @Test(arguments: SubjectKind.caches, [false, true])
  func `a load that falls back to the value of a later flight returns the details of that value`(
    kind: SubjectKind, timesOut: Bool
  ) throws {
    for (isOlderEvicted, isNewerEvicted) in [(false, false), (true, false), (false, true)] {
      // A cache in memory alone loses an evicted value.
      if kind == .memory, isOlderEvicted || isNewerEvicted { continue }
      try SeededExecutor.run(seed: 0) { executor in
        let subject = try Subject(kind, on: executor)
        let (cache, gate) = (subject.cache, Gate())
        let grace = Duration.seconds(600)
        cache.setValue(1, forKey: "a", expiry: .after(.seconds(60), graceStale: grace), tags: ["older"])
        subject.clock.advance(by: .seconds(70))
        if isOlderEvicted { cache.trim(toCost: 0) }
        let policy = timesOut ? LoadPolicy.freshElseStale.timingOut(after: .seconds(3)) : .freshElseStale
        let load = Task(executorPreference: executor) {
          try await cache.loadedValue(forKey: "a", policy: policy) { _ in
            try await gate.pass()
            throw Broken()
          }
        }
        await gate.arrivals(atLeast: 1)
        while timesOut, subject.clock.sleeperCount == 0 { await Task.yield() }
        let newer = Expiry.after(.seconds(1), graceStale: grace)
        _ = try await cache.value(forKey: "a", expiry: newer, tags: ["newer"], policy: .fetchAnew) { _ in 2 }
        if isNewerEvicted { cache.trim(toCost: 0) }
        subject.clock.advance(by: .seconds(3))
        if !timesOut { gate.open() }
        let loaded = try await load.value
        try #require(loaded.value == 2 && loaded.isStale && loaded.tags == ["newer"])
        try #require(loaded.age == .seconds(3) && loaded.remainingLifetime == .seconds(-2))
        try #require(loaded.source == (isNewerEvicted ? .secondTier : .memory))
        gate.open()
        while subject.inProgressCount > 0 { await Task.yield() }
        try #require(subject.findings == [])
      }
    }
  }
}
