import CisternTestSupport
import CisternTesting
import Testing

@testable import CisternCore

/// The circuit breaker amid concurrent loads, retries, cancellations, probes and bulk loads, and the load of a failing
/// origin.
@Suite struct CircuitBreakerScheduleTests {
  private static let breaker = CircuitBreaker(
    opensAfter: .consecutiveFailures(2), openDuration: .seconds(2), maximumOpenDuration: .seconds(8), probeCount: 2)

  private func settings(_ seed: UInt64) -> CacheConfiguration<Int> {
    var settings = CacheConfiguration<Int>()
    settings.circuitBreaker = Self.breaker
    settings.refreshRetryInterval = .zero
    if seed % 2 == 0 { settings.retry = RetryPolicy(attempts: 3, initialDelay: .zero) }
    if seed % 3 == 0 { settings.flightLimit = 2 }
    return settings
  }

  /// One random load of some keys. Throws for a result that no load may have.
  private func load(
    _ subject: Subject, _ generator: inout SeededGenerator, _ fetch: @escaping Subject.Fetch
  ) async throws {
    let (key, cache) = ("\(generator.next(below: 5))", subject.cache)
    let policies: [LoadPolicy] = [.cachedOrFetch, .freshElseStale, .freshOnly, .reload]
    let policy = policies[generator.next(below: policies.count)]
    do {
      switch generator.next(below: 3) {
      case 0: _ = try await cache.value(forKey: key, policy: policy, fetch: fetch)
      case 1:
        _ = try await cache.load(key, policy: policy) { .store(try await fetch($0.key)) }
      default:
        let loaded = try await cache.values(forKeys: [key, "5", "6"], policy: policy) { keys in
          var values: [String: Int] = [:]
          for key in keys { values[key] = 1 }
          _ = try await fetch(keys[0])
          return values
        }
        for error in loaded.failed.values { throw error }
      }
    } catch let error as CisternError {
      try #require(error.code == .circuitOpen)
    } catch {
      try #require(error is Broken || error is CancellationError)
    }
  }

  @Test(arguments: [SubjectKind.memory, .twoTiers])
  func `loads under all conditions end, no probe is lost, and the breaker closes when the origin recovers`(
    kind: SubjectKind
  ) throws {
    try SeededSchedule.explore(seeds: 150) { executor in
      let subject = try Subject(
        kind, on: executor, expiry: .after(.seconds(1), graceStale: .seconds(1000)), settings: settings(executor.seed))
      let circuit = try #require(subject.cache.loader.settings.circuit)
      let (recovered, violations) = (Recorder<Bool>(), Recorder<CircuitState.Phase>())
      let origin = ScriptedOrigin<String, Int> { key, number in
        let fails = recovered.count == 0 && (number + key.utf8.count + Int(executor.seed)) % 3 != 0
        return .yielding(number % 4, fails ? .failure(Broken()) : .value(number))
      }
      let fetch: Subject.Fetch = { key in
        if case .open = circuit.phase { violations.record(circuit.phase) }
        return try await origin.fetch(key)
      }
      let loads = (0..<8).map { number in
        Task(executorPreference: executor) {
          var generator = SeededGenerator(seed: executor.seed &* 31 &+ UInt64(number))
          for _ in 0..<4 {
            await pause(&generator)
            try await load(subject, &generator, fetch)
          }
        }
      }
      var generator = SeededGenerator(seed: executor.seed)
      for _ in 0..<6 {
        await pause(&generator, atMost: 20)
        subject.clock.advance(by: .seconds(1))
        if generator.next(below: 2) == 0 { loads[generator.next(below: loads.count)].cancel() }
      }
      for load in loads { try await load.value }
      while subject.inProgressCount > 0 { await Task.yield() }
      if case .halfOpen(let inProgress, _, _) = circuit.phase { try #require(inProgress == 0) }
      try #require(violations.elements == [])

      recovered.record(true)
      subject.clock.advance(by: .seconds(8))
      for number in 0..<Self.breaker.probeCount {
        try #require(try await subject.value("new\(number)", fetch: fetch) == 1)
      }
      try #require(circuit.phase == .closed)
      try #require(subject.findings == [])
    }
  }

  @Test func `a half-open breaker permits as many concurrent probes as it is set to`() throws {
    try SeededSchedule.explore(seeds: 200) { executor in
      let subject = try Subject(.memory, on: executor, settings: settings(1))
      let circuit = try #require(subject.cache.loader.settings.circuit)
      for key in ["x", "y"] { _ = try? await subject.value(key) { _ in throw Broken() } }
      subject.clock.advance(by: .seconds(2))
      let gate = Gate()
      let origin = ScriptedOrigin<String, Int> { _, _ in .gated(gate, .value(1)) }
      let loads = (0..<10).map { subject.load("\($0)", fetch: origin.fetch) }
      while subject.cache.statistics.rejected < 8 { await Task.yield() }
      try #require(origin.callCount == 2)
      // A cancelled probe gives its place to another one.
      let running = Int(origin.calls[0].key) ?? 0
      loads[running].cancel()
      while origin.runningCount > 1 { await Task.yield() }
      for _ in 0..<20 { await Task.yield() }
      let other = subject.load("other", fetch: origin.fetch)
      while origin.callCount < 3 { await Task.yield() }
      gate.open()
      try #require(await outcome(other) == .value(1))
      let outcomes = await loads.asyncOutcomes()
      try #require(outcomes.count { $0 == .value(1) } == 1 && outcomes.count { $0 == .cancelled } == 1)
      try #require(circuit.phase == .closed && subject.findings == [])
    }
  }

  /// Returns the number of requests that the origin gets in a minute for 100 keys, if this share of them fails.
  private func requests(failing share: Int, breaker: CircuitBreaker?) throws -> Int {
    let requests = Recorder<Int>()
    try SeededExecutor.run(seed: 7) { executor in
      var settings = CacheConfiguration<Int>()
      settings.circuitBreaker = breaker
      settings.retry = RetryPolicy(attempts: 3, initialDelay: .zero)
      let subject = try Subject(
        .memory, on: executor, expiry: .after(.seconds(10), graceStale: .seconds(1000)), settings: settings)
      var generator = SeededGenerator(seed: 1)
      let draws = (0..<1000).map { _ in generator.next(below: 100) }
      let origin = ScriptedOrigin<String, Int> { key, number in
        let draw = draws[(number &* 100 &+ (Int(key) ?? 0)) % draws.count]
        return draw < share ? .failure(Broken()) : .value(number)
      }
      for key in 0..<100 { subject.cache["\(key)"] = 0 }
      for _ in 0..<60 {
        subject.clock.advance(by: .seconds(1))
        let loads = (0..<200).map { subject.load("\($0 % 100)", fetch: origin.fetch) }
        // Every key has a stale value, so no caller gets an error.
        for load in loads { _ = try await load.value }
        while subject.inProgressCount > 0 { await Task.yield() }
      }
      try #require(subject.findings == [])
      requests.record(origin.callCount)
    }
    return requests.elements.first ?? .max
  }

  @Test func `a failing origin gets at most as many requests as a healthy one`() throws {
    let breaker = CircuitBreaker(
      opensAfter: .failureShare(0.2, minimumCalls: 10, within: .seconds(10)), openDuration: .seconds(5))
    let healthy = try requests(failing: 0, breaker: breaker)
    #expect(healthy == 600)
    for share in [30, 100] {
      let (with, without) = (
        try requests(failing: share, breaker: breaker), try requests(failing: share, breaker: nil)
      )
      #expect(with <= healthy && without > healthy)
    }
  }
}

extension [Task<Int, any Error>] {
  /// Waits for all tasks, and returns their results.
  fileprivate func asyncOutcomes() async -> [Outcome] {
    var outcomes: [Outcome] = []
    for task in self { outcomes.append(await outcome(task)) }
    return outcomes
  }
}
