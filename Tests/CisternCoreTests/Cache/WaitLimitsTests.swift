import CisternCore
import CisternTesting
import CisternTestSupport
import Testing

/// Timeouts, retries, and the limit on concurrent fetches.
struct WaitLimitsTests {
  @Test(arguments: SubjectKind.caches)
  func `at the soft timeout a stale value is returned, and the flight continues and is stored once`(
    kind: SubjectKind
  ) throws {
    try SeededSchedule.explore(seeds: 100) { executor in
      let (subject, gate, origin) = try Subject.withOlderValue(age: .seconds(61), kind, on: executor)
      let policy = LoadPolicy.freshElseStale.returningStale(after: .seconds(2))
      let loads = (0..<3).map { _ in subject.load("a", policy: policy, fetch: origin.fetch) }
      while subject.clock.sleeperCount < 3 { await Task.yield() }
      subject.clock.advance(by: .seconds(2))
      for load in loads { try #require(try await load.value == -1) }
      try #require(subject.inProgressCount == 1)
      gate.open()
      while subject.inProgressCount > 0 { await Task.yield() }
      try #require(subject.cache["a"] == 1)
      try #require(origin.callCount == 1)
      try #require(subject.cache.statistics.timeouts == 3)
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches, [Duration.seconds(5), nil])
  func `a caller whose stale value expires while it waits gets no timeout that it did not request`(
    kind: SubjectKind, timeout: Duration?
  ) throws {
    try SeededSchedule.explore(seeds: 100) { executor in
      let (subject, gate, origin) = try Subject.withOlderValue(age: .seconds(659), kind, on: executor)
      var policy = LoadPolicy.freshElseStale.returningStale(after: .seconds(2))
      if let timeout { policy = policy.timingOut(after: timeout) }
      let load = subject.load("a", policy: policy, fetch: origin.fetch)
      while subject.clock.sleeperCount == 0 { await Task.yield() }
      // The grace of the value ends, and then the soft timeout does.
      subject.clock.advance(by: .seconds(2))
      while subject.clock.sleeperCount != (timeout == nil ? 0 : 1) { await Task.yield() }
      for _ in 0..<20 { await Task.yield() }
      if timeout == nil {
        gate.open()
        try #require(try await load.value == 1)
      } else {
        subject.clock.advance(by: .seconds(3))
        let error = await #expect(throws: CisternError.self) { try await load.value }
        try #require(error?.code == .timedOut)
        gate.open()
      }
      while subject.inProgressCount > 0 || origin.runningCount > 0 { await Task.yield() }
      try #require(subject.cache.statistics.timeouts == (timeout == nil ? 0 : 1))
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches, [0, 2])
  func `a failed fetch returns the older value while it is in grace, and no longer`(
    kind: SubjectKind, waited: Int
  ) throws {
    try SeededSchedule.explore(seeds: 50) { executor in
      let (subject, gate, origin) = try Subject.withOlderValue(age: .seconds(659), kind, on: executor) { _ in
        .failure(Broken())
      }
      let load = subject.load("a", policy: .freshElseStale, fetch: origin.fetch)
      while origin.runningCount == 0 { await Task.yield() }
      subject.clock.advance(by: .seconds(waited))
      gate.open()
      if waited == 0 {
        try #require(try await load.value == -1)
      } else {
        await #expect(throws: Broken()) { try await load.value }
      }
      while subject.inProgressCount > 0 { await Task.yield() }
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches, [false, true])
  func `at the hard timeout leader and waiters throw, and the flight is cancelled or continues, as configured`(
    kind: SubjectKind, completes: Bool
  ) throws {
    try SeededSchedule.explore(seeds: 100) { executor in
      let subject = try Subject(kind, on: executor, completesAbandonedFlights: completes, expiry: .minute)
      let gate = Gate()
      let origin = ScriptedOrigin<String, Int> { _, number in .gated(gate, .value(number)) }
      let policy = LoadPolicy.cachedOrFetch.timingOut(after: .seconds(2))
      let loads = (0..<3).map { _ in subject.load("a", policy: policy, fetch: origin.fetch) }
      while subject.clock.sleeperCount < 3 { await Task.yield() }
      subject.clock.advance(by: .seconds(2))
      for load in loads {
        let error = await #expect(throws: CisternError.self) { try await load.value }
        try #require(error?.code == .timedOut)
      }
      while subject.inProgressCount > (completes ? 1 : 0) { await Task.yield() }
      gate.open()
      while subject.inProgressCount > 0 || origin.runningCount > 0 { await Task.yield() }
      try #require(subject.cache["a"] == (completes ? 1 : nil))
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches, [false, true])
  func `a timeout at any instant gives each caller one result, and the fetched value is stored once`(
    kind: SubjectKind, isSoft: Bool
  ) throws {
    try SeededSchedule.explore(seeds: 200) { executor in
      let subject = try Subject(kind, on: executor, completesAbandonedFlights: true, expiry: .minute)
      let origin = ScriptedOrigin<String, Int> { _, number in .yielding(4, .value(number)) }
      if isSoft { subject.cache["a"] = -1 }
      subject.clock.advance(by: .seconds(61))
      let policy: LoadPolicy =
        isSoft
        ? .freshElseStale.returningStale(after: .seconds(2)) : .cachedOrFetch.timingOut(after: .seconds(2))
      let loads = (0..<4).map { _ in subject.load("a", policy: policy, fetch: origin.fetch) }
      await pauseSome(executor, atMost: 30)
      subject.clock.advance(by: .seconds(2))
      var timeouts = 0
      for load in loads {
        do {
          let value = try await load.value
          if isSoft, value == -1 { timeouts += 1 } else { try #require(value == 1) }
        } catch let error as CisternError {
          try #require(!isSoft && error.code == .timedOut)
          timeouts += 1
        }
      }
      while subject.inProgressCount > 0 || subject.clock.sleeperCount > 0 { await Task.yield() }
      try #require(origin.callCount == 1)
      try #require(subject.cache.statistics.timeouts == timeouts)
      for value in subject.valuesFromBothTiers("a") where kind != .memory || value != nil { try #require(value == 1) }
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `a flight that completes in time leaves no timer behind`(kind: SubjectKind) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Subject(kind, on: executor)
      let policy = LoadPolicy.freshOnly.timingOut(after: .seconds(2))
      try #require(try await subject.value("a", policy: policy) { _ in 1 } == 1)
      while subject.clock.sleeperCount > 0 { await Task.yield() }
      await #expect(throws: CisternError.self) {
        try await subject.value("b", policy: .cachedOrFetch.timingOut(after: .zero)) { _ in
          try await subject.clock.sleep(until: .distantFuture)
          return 1
        }
      }
      while subject.inProgressCount > 0 { await Task.yield() }
      try #require(subject.findings == [])
    }
  }

  @Test func `a failed fetch is retried within its flight, with growing pauses, up to the attempt limit`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      var settings = CacheConfiguration<Int>()
      settings.retry = RetryPolicy(attempts: 4, initialDelay: .seconds(1), maximumDelay: .seconds(3)) { error in
        error as? Broken != Broken(number: 9)
      }
      let subject = try Subject(.memory, on: executor, settings: settings)
      let origin = ScriptedOrigin<String, Int> { _, number in number < 4 ? .failure(Broken()) : .value(number) }
      let loads = (0..<2).map { _ in subject.load("a", fetch: origin.fetch) }
      for pause in [1, 2, 3] {
        while subject.clock.sleeperCount == 0 { await Task.yield() }
        try #require(origin.callCount == pause)
        subject.clock.advance(by: .milliseconds(pause * 500 - 1))
        for _ in 0..<10 { await Task.yield() }
        try #require(origin.callCount == pause)
        subject.clock.advance(by: .milliseconds(pause * 500 + 1))
      }
      for load in loads { try #require(try await load.value == 4) }
      try #require(subject.cache.statistics.failures == 0)

      // An error that the policy excludes is not retried, and the number of attempts is bounded.
      let fatal = ScriptedOrigin<String, Int> { _, _ in .failure(Broken(number: 9)) }
      await #expect(throws: Broken(number: 9)) { try await subject.value("b", fetch: fatal.fetch) }
      try #require(fatal.callCount == 1)
      let hopeless = ScriptedOrigin<String, Int> { _, _ in .failure(Broken()) }
      let load = subject.load("c", fetch: hopeless.fetch)
      for _ in 1...3 {
        while subject.clock.sleeperCount == 0 { await Task.yield() }
        subject.clock.advance(by: .seconds(3))
      }
      await #expect(throws: Broken()) { try await load.value }
      try #require(hopeless.callCount == 4)
      try #require(subject.findings == [])
    }
  }

  @Test func `a pause between attempts ends when the last caller leaves`() throws {
    try SeededSchedule.explore(seeds: 50) { executor in
      var settings = CacheConfiguration<Int>()
      settings.retry = RetryPolicy(attempts: 4, initialDelay: .seconds(1))
      let subject = try Subject(.memory, on: executor, settings: settings)
      let origin = ScriptedOrigin<String, Int> { _, _ in .failure(Broken()) }
      let load = subject.load("a", fetch: origin.fetch)
      while subject.clock.sleeperCount == 0 { await Task.yield() }
      load.cancel()
      try #require(await outcome(load) == .cancelled)
      while subject.inProgressCount > 0 || subject.clock.sleeperCount > 0 { await Task.yield() }
      try #require(origin.callCount == 1)
      try #require(subject.findings == [])
    }
  }

  @Test func `no more fetches run concurrently than the limit allows, and each gets a permit in the end`() throws {
    try SeededSchedule.explore(seeds: 100) { executor in
      var settings = CacheConfiguration<Int>()
      settings.flightLimit = 2
      let subject = try Subject(.memory, on: executor, settings: settings)
      let running = Recorder<Int>()
      let origin = ScriptedOrigin<String, Int> { _, _ in .yielding(2, .value(1)) }
      var generator = SeededGenerator(seed: executor.seed)
      let loads = (0..<8).map { number in
        subject.load("\(number)") { key in
          running.record(origin.runningCount + 1)
          return try await origin.fetch(key)
        }
      }
      await pause(&generator)
      let cancelled = generator.next(below: 8)
      loads[cancelled].cancel()
      for (number, load) in loads.enumerated() where number != cancelled { try #require(try await load.value == 1) }
      _ = await load(loads[cancelled])
      try #require((running.elements.max() ?? 0) <= 2)
      while subject.inProgressCount > 0 { await Task.yield() }
      try #require(try await subject.value("more") { _ in 5 } == 5)
      try #require(subject.findings == [])
    }
  }

  @Test func `a bulk load takes one permit of the fetch limiter and is retried as one fetch`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      var settings = CacheConfiguration<Int>()
      settings.flightLimit = 1
      settings.retry = RetryPolicy(attempts: 2, initialDelay: .zero)
      let subject = try Subject(.memory, on: executor, settings: settings)
      let gate = Gate()
      let blocking = ScriptedOrigin<String, Int> { _, _ in .gated(gate, .value(1)) }
      let first = subject.load("a", fetch: blocking.fetch)
      while blocking.callCount == 0 { await Task.yield() }
      let calls = Recorder<[String]>()
      let bulk = Task(executorPreference: executor) {
        try await subject.cache.values(forKeys: ["b", "c"]) { keys in
          calls.record(keys.sorted())
          if calls.elements.count == 1 { throw Broken() }
          return ["b": 2, "c": 3]
        }
      }
      for _ in 0..<50 { await Task.yield() }
      try #require(calls.elements == [])
      gate.open()
      try #require(try await first.value == 1)
      try #require(try await bulk.value.values == ["b": 2, "c": 3])
      try #require(calls.elements == [["b", "c"], ["b", "c"]])
      try #require(subject.findings == [])
    }
  }

  private func pauseSome(_ executor: SeededExecutor, atMost limit: Int) async {
    var generator = SeededGenerator(seed: executor.seed)
    await pause(&generator, atMost: limit)
  }

  private func load(_ task: Task<Int, any Error>) async -> Outcome { await outcome(task) }

  @Test(arguments: [0, -1])
  func `invalid limits and intervals are refused with an explanation`(limit: Int) {
    var settings = CacheConfiguration<Int>()
    settings.flightLimit = limit
    let error = #expect(throws: CisternError.self) { try Cache<String, Int>(settings: settings) }
    #expect(error?.code == .invalidArgument)
    settings.flightLimit = nil
    settings.refreshRetryInterval = .seconds(-1)
    #expect(throws: CisternError.self) { try Cache<String, Int>(settings: settings) }
  }
}
