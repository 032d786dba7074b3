import CisternCore
import CisternTestSupport
import CisternTesting
import Testing

/// Values that a fetch announces before it ends.
struct EarlyValueTests {
  @Test(arguments: SubjectKind.caches)
  func `waiters and later callers get an announced value at once, and the outcome is stored without them`(
    kind: SubjectKind
  ) throws {
    try SeededSchedule.explore(seeds: 100) { executor in
      let subject = try Subject(kind, on: executor)
      let cache = subject.cache
      let (before, after) = (Gate(), Gate())
      let announced = Recorder<Bool>()
      let led = Task(executorPreference: executor) {
        try await cache.load("a") { context in
          try await before.pass()
          announced.record(context.announce(1))
          announced.record(context.announce(2))
          try await after.pass()
          return .store(3)
        }
      }
      await before.arrivals(atLeast: 1)
      let joined = (0..<3).map { _ in subject.load("a") { _ in 99 } }
      while cache.statistics.joins < 3 { await Task.yield() }
      if executor.seed % 2 == 0 { for _ in 0..<executor.seed % 7 { await Task.yield() } }
      before.open()
      try #require(try await led.value?.value == 1)
      for load in joined { try #require(try await load.value == 1) }
      try #require(announced.elements == [true, false])
      // The flight is in progress, and nothing is stored.
      try #require(cache["a"] == nil && cache.statistics.inProgressCount == 1)
      try #require(try await subject.value("a") { _ in 99 } == 1)
      let bulk = try await cache.values(forKeys: ["a"]) { _ in ["a": 99] }
      try #require(bulk.values == ["a": 1])
      let cancelled = subject.load("a") { _ in 99 }
      cancelled.cancel()
      _ = await outcome(cancelled)
      after.open()
      while cache.statistics.inProgressCount > 0 { await Task.yield() }
      try #require(subject.valuesFromBothTiers("a") == (kind == .memory ? [3, nil] : [3, 3]))
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `a failure after an announcement reaches no caller of it, and the next load fetches`(kind: SubjectKind) throws {
    try SeededSchedule.explore(seeds: 50) { executor in
      let subject = try Subject(kind, on: executor)
      let cache = subject.cache
      let gate = Gate()
      let contexts = Recorder<FetchContext<String, Int>>()
      let led = Task(executorPreference: executor) {
        try await cache.load("a") { context in
          contexts.record(context)
          context.announce(1)
          try await gate.pass()
          throw Broken()
        }
      }
      try #require(try await led.value?.value == 1)
      gate.open()
      while cache.statistics.inProgressCount > 0 { await Task.yield() }
      try #require(contexts.elements[0].announce(5) == false && contexts.elements[0].isStorable == false)
      try #require(cache["a"] == nil)
      try #require(try await subject.value("a") { _ in 2 } == 2)
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `a load after an invalidation waits for the outcome, and fetches again if the invalidation concerns it`(
    kind: SubjectKind
  ) throws {
    try SeededSchedule.explore(seeds: 100) { executor in
      let subject = try Subject(kind, on: executor)
      let cache = subject.cache
      let (before, after) = (Gate(), Gate())
      let led = Task(executorPreference: executor) {
        try await cache.load("a") { context in
          try await before.pass()
          context.announce(1)
          try await after.pass()
          return .store(1, tags: ["news"])
        }
      }
      await before.arrivals(atLeast: 1)
      let isInvalidatedFirst = executor.seed % 2 == 0
      if isInvalidatedFirst { cache.removeAll(tagged: "news") }
      before.open()
      try #require(try await led.value?.value == 1)
      if !isInvalidatedFirst { cache.removeAll(tagged: "news") }
      let later = subject.load("a") { _ in 2 }
      for _ in 0..<executor.seed % 20 { await Task.yield() }
      after.open()
      try #require(try await later.value == 2)
      try #require(cache["a"] == 2)
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `an invalidation that does not concern the outcome of an announced value costs no second fetch`(
    kind: SubjectKind
  ) throws {
    try SeededSchedule.explore(seeds: 100) { executor in
      let subject = try Subject(kind, on: executor)
      let cache = subject.cache
      let gate = Gate()
      let announced = Recorder<Bool>()
      let led = Task(executorPreference: executor) {
        try await cache.load("a") { context in
          announced.record(context.announce(1))
          try await gate.pass()
          announced.record(context.announce(2))
          return .store(3, tags: ["news"])
        }
      }
      try #require(try await led.value?.value == 1)
      if executor.seed % 2 == 0 { cache.removeAll(tagged: "other") } else { cache.removeAll(withPrefix: "z") }
      let later = (0..<2).map { _ in subject.load("a") { _ in 99 } }
      let bulk = Task(executorPreference: executor) { try await cache.values(forKeys: ["a"]) { _ in ["a": 99] } }
      for _ in 0..<executor.seed % 20 { await Task.yield() }
      let cancelled = subject.load("a") { _ in 99 }
      for _ in 0..<executor.seed % 7 { await Task.yield() }
      cancelled.cancel()
      _ = await outcome(cancelled)
      gate.open()
      for load in later { try #require(try await load.value == 3) }
      try #require(try await bulk.value.values == ["a": 3])
      try #require(announced.elements == [true, false])
      while cache.statistics.inProgressCount > 0 { await Task.yield() }
      try #require(subject.valuesFromBothTiers("a") == (kind == .memory ? [3, nil] : [3, 3]))
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `a failure after an announcement reaches the callers that came after an invalidation`(kind: SubjectKind) throws {
    try SeededSchedule.explore(seeds: 50) { executor in
      let subject = try Subject(kind, on: executor)
      let gate = Gate()
      let led = Task(executorPreference: executor) {
        try await subject.cache.load("a") { context in
          context.announce(1)
          try await gate.pass()
          throw Broken()
        }
      }
      try #require(try await led.value?.value == 1)
      subject.cache.removeAll(tagged: "other")
      let later = subject.load("a") { _ in 99 }
      while subject.cache.statistics.joins < 1 { await Task.yield() }
      gate.open()
      await #expect(throws: Broken.self) { try await later.value }
      while subject.cache.statistics.inProgressCount > 0 { await Task.yield() }
      try #require(try await subject.value("a") { _ in 2 } == 2)
      try #require(subject.findings == [])
    }
  }

  @Test func `an announced value is merged with the cached one, and shown through unconfirmed edits`() throws {
    try SeededSchedule.explore(seeds: 30) { executor in
      var settings = CacheConfiguration<Int>()
      settings.merge = { cached, incoming in cached * 10 + incoming }
      let merging = try Subject(.twoTiers, on: executor, settings: settings)
      merging.cache["a"] = 4
      let first = try await merging.cache.load("a", policy: .reload) { context in
        context.announce(1)
        return .store(2)
      }
      try #require(first?.value == 41)
      while merging.inProgressCount > 0 { await Task.yield() }
      try #require(merging.cache["a"] == 42)

      let edited = try Subject(.twoTiers, on: executor)
      edited.cache["a"] = 4
      let gate = Gate()
      let edit = Task(executorPreference: executor) {
        try await edited.cache.editValue(forKey: "a", { ($0 ?? 0) + 100 }) {
          try await gate.pass()
          return 100
        }
      }
      await gate.arrivals(atLeast: 1)
      let second = try await edited.cache.load("a", policy: .reload) { context in
        try #require(context.stored?.value == 4)
        context.announce(1)
        return .absent()
      }
      try #require(second?.value == 101)
      while edited.inProgressCount > 0 { await Task.yield() }
      // The edit shows its value over an absent one.
      try #require(edited.cache["a"] == 100)
      gate.open()
      _ = try? await edit.value
      try #require(edited.findings == [] && merging.findings == [])
    }
  }

  @Test(arguments: SubjectKind.tiered, [false, true])
  func `a context announces nothing after its fetch has returned, although the flight is in progress`(
    kind: SubjectKind, isBulk: Bool
  ) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Subject(kind, on: executor)
      let (cache, tier) = (subject.cache, try #require(subject.tier))
      let contexts = Recorder<FetchContext<String, Int>>()
      tier.room.close()
      let load = Task(executorPreference: executor) {
        guard isBulk else {
          return try await cache.load("a") { context in
            contexts.record(context)
            return .store(1)
          }.map { ["a": $0.value] }
        }
        return try await cache.load(keys: ["a", "b"]) { given in
          for context in given { contexts.record(context) }
          return ["a": .store(1), "b": .store(1)]
        }.values
      }
      // The result waits for room in the tier.
      await tier.room.arrivals(atLeast: 1)
      try #require(cache.statistics.inProgressCount == (isBulk ? 2 : 1))
      for context in contexts.elements { try #require(!context.announce(5)) }
      tier.room.open()
      try #require(try await load.value == (isBulk ? ["a": 1, "b": 1] : ["a": 1]))
      try #require(subject.findings == [])
    }
  }
}
