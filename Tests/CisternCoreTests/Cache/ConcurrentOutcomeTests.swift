import CisternCore
import CisternTestSupport
import CisternTesting
import Testing

/// The outcomes of fetches beside writes, invalidations, the end of a lifetime and another store.
struct ConcurrentOutcomeTests {
  private static let minute = Expiry.after(.seconds(60), graceStale: .seconds(600))

  /// The writes that end the right of a flight to its entry.
  enum Overtaking: CaseIterable, Sendable {
    case set, removal, tag, prefix, all

    func write(_ cache: Cache<String, Int>) {
      switch self {
      case .set: cache["a"] = 50
      case .removal: cache["a"] = nil
      case .tag: cache.removeAll(tagged: "news")
      case .prefix: cache.removeAll(withPrefix: "a")
      case .all: cache.removeAll()
      }
    }
  }

  @Test(arguments: SubjectKind.caches, Overtaking.allCases)
  func `no outcome changes a key that was written during the fetch`(kind: SubjectKind, write: Overtaking) throws {
    try SeededSchedule.explore(seeds: 60) { executor in
      let subject = try Subject(kind, on: executor, expiry: Self.minute)
      let cache = subject.cache
      cache.setValue(7, forKey: "a", tags: ["news"])
      subject.clock.advance(by: .seconds(61))
      let outcomes: [FetchOutcome<Int>] = [
        .keepStored(), .store(8, tags: ["news"]), .returnOnly(8), .returnAndRemove(8), .absent(),
      ]
      let outcome = outcomes[Int(executor.seed) % outcomes.count]
      let (gate, isStorable) = (Gate(), Recorder<Bool>())
      let load = Task(executorPreference: executor) {
        try await cache.load("a", policy: .freshOnly) { context in
          isStorable.record(context.isStorable)
          try await gate.pass()
          isStorable.record(context.isStorable)
          return outcome
        }
      }
      await gate.arrivals(atLeast: 1)
      write.write(cache)
      gate.open()
      let loaded = try await load.value
      try #require(isStorable.elements == [true, false])
      try #require(loaded?.value == [7, 8, 8, 8, nil][Int(executor.seed) % outcomes.count])
      for _ in 0..<2 {
        try #require(cache.find("a")?.value == (write == .set ? 50 : nil), "\(write) during \(outcome)")
        if kind != .memory { cache.trim(toCost: 0) }
      }
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `a caller that joins after an invalidation gets no result from before it, stored or not`(
    kind: SubjectKind
  ) throws {
    try SeededSchedule.explore(seeds: 60) { executor in
      let subject = try Subject(kind, on: executor, expiry: Self.minute)
      let cache = subject.cache
      let outcomes: [FetchOutcome<Int>] = [
        .store(8, tags: ["news"]), .returnOnly(8), .returnAndRemove(8), .absent(), .keepStored(),
        .store(8, expiry: .after(.zero)),
      ]
      let number = Int(executor.seed) % outcomes.count
      let (outcome, keeps) = (outcomes[number], number == 4)
      if keeps {
        cache.setValue(7, forKey: "a", tags: ["news"])
        subject.clock.advance(by: .seconds(61))
      }
      let gate = Gate()
      let led = Task(executorPreference: executor) {
        try await cache.load("a", policy: .freshOnly) { _ in
          try await gate.pass()
          return outcome
        }
      }
      await gate.arrivals(atLeast: 1)
      cache.removeAll(tagged: "news")
      let joined = subject.load("a", policy: executor.seed % 2 == 0 ? .freshOnly : .reload) { _ in 20 }
      let bulk = Task(executorPreference: executor) {
        try await cache.values(forKeys: ["a"], policy: .freshOnly) { _ in ["a": 20] }
      }
      // The flight loses its entry with the value that it was to refresh. Otherwise, both callers join it.
      while keeps ? cache["a"] != 20 : cache.statistics.joins < 2 { await Task.yield() }
      // The flight loses its entry before it ends, so that its outcome is not stored in any case.
      if !keeps, executor.seed / 6 % 2 == 0 { cache.removeAll(withPrefix: "a") }
      gate.open()
      _ = try await led.value
      try #require(try await joined.value == 20)
      try #require(try await bulk.value.values == ["a": 20])
      try #require(cache["a"] == 20)
      try #require(subject.findings == [])
    }
  }

  @Test func `a kept value does not replace a record that another store has written since`() throws {
    try SeededSchedule.explore(seeds: 50) { executor in
      let subject = try Subject(.twoTiers, on: executor, expiry: Self.minute)
      let other = try subject.reopened()
      subject.cache["a"] = 7
      subject.clock.advance(by: .seconds(61))
      let gate = Gate()
      let load = Task(executorPreference: executor) {
        try await subject.cache.load("a", policy: .freshOnly) { _ in
          try await gate.pass()
          return .keepStored()
        }
      }
      await gate.arrivals(atLeast: 1)
      other.cache["a"] = 9
      gate.open()
      try #require(try await load.value?.value == 7)
      // The copy in memory has no new lifetime either.
      try #require(subject.cache.find("a")?.isStale == true)
      subject.cache.trim(toCost: 0)
      try #require(subject.cache["a"] == 9)
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `a value whose lifetime ends during its fetch is kept in both tiers`(kind: SubjectKind) throws {
    try SeededExecutor.run(seed: 1) { executor in
      let subject = try Subject(kind, on: executor, expiry: .after(.seconds(30)))
      let cache = subject.cache
      let token = cache.observe { _ in }
      defer { token.cancel() }
      cache["a"] = 1
      subject.clock.advance(by: .seconds(29))
      let loaded = try await cache.load("a", policy: .reload) { context in
        try #require(context.stored?.value == 1)
        subject.clock.advance(by: .seconds(2))
        return .keepStored(expiry: .never)
      }
      try #require(loaded?.value == 1)
      try #require(subject.valuesFromBothTiers("a") == (kind == .memory ? [1, nil] : [1, 1]))
      try #require(subject.findings == [])
    }
  }

  @Test func `a kept value does not come back after another store removed it`() throws {
    try SeededExecutor.run(seed: 1) { executor in
      let subject = try Subject(.twoTiers, on: executor, expiry: Self.minute)
      let other = try subject.reopened()
      subject.cache["a"] = 1
      let loaded = try await subject.cache.load("a", policy: .reload) { _ in
        other.cache["a"] = nil
        return .keepStored()
      }
      try #require(loaded?.value == 1)
      subject.cache.trim(toCost: 0)
      try #require(subject.cache["a"] == nil && other.cache["a"] == nil)
    }
  }

  @Test func `the stored value is the record of another store, not an older copy in memory`() throws {
    try SeededExecutor.run(seed: 1) { executor in
      let subject = try Subject(.twoTiers, on: executor, expiry: Self.minute)
      subject.cache["a"] = 7
      try subject.reopened().cache["a"] = 9
      let loaded = try await subject.cache.load("a", policy: .reload) { context in
        try #require(context.stored?.value == 9)
        return .keepStored()
      }
      try #require(loaded?.value == 9 && subject.cache["a"] == 9)
    }
  }
}
