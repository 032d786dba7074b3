import CisternTestSupport
import CisternTesting
import Testing

@testable import CisternCore

extension CircuitBreakerTests {
  @Test func `a background refresh that the fetch of a probe starts is no part of the probe`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try subject(on: executor, expiry: .after(.seconds(1), graceStale: .seconds(1000))) {
        $0.refreshRetryInterval = .zero
      }
      let cache = subject.cache
      for key in ["stale", "in bulk"] { cache[key] = 7 }
      subject.clock.advance(by: .seconds(2))
      try await open(subject)
      subject.clock.advance(by: .seconds(10))
      let called = Recorder<String>()
      let value = try await subject.value("outer") { _ in
        #expect(
          cache.refresh("asked") { context in
            called.record(context.key)
            return .store(1)
          })
        let stale = try await subject.value("stale") { key in
          called.record(key)
          return 1
        }
        let bulk = try await cache.values(forKeys: ["in bulk"]) { keys in
          for key in keys { called.record(key) }
          return [:]
        }
        while cache.statistics.rejected < 3, called.count == 0 { await Task.yield() }
        return stale + bulk.values.count
      }
      try #require(value == 8 && called.count == 0 && cache.statistics.rejected == 3)
      try #require(cache.loader.settings.circuit?.phase == .closed && subject.findings == [])
    }
  }

  @Test func `a key that was rejected during a probe is fetched after the probe has succeeded`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try subject(on: executor, expiry: .after(.seconds(1), graceStale: .seconds(1000))) {
        $0.refreshRetryInterval = .seconds(60)
      }
      let cache = subject.cache
      cache["stale"] = 7
      subject.clock.advance(by: .seconds(2))
      try await open(subject)
      subject.clock.advance(by: .seconds(10))
      let gate = Gate()
      let probe = subject.load("probe") { _ in
        try await gate.pass()
        return 1
      }
      await gate.arrivals(atLeast: 1)
      try #require(try await subject.value("stale", policy: .freshElseStale) { _ in 8 } == 7)
      try #require(cache.statistics.rejected == 1)
      gate.open()
      try #require(try await probe.value == 1)
      try #require(cache.loader.settings.circuit?.phase == .closed)
      try #require(try await subject.value("stale", policy: .freshElseStale) { _ in 8 } == 8)
      try #require(subject.findings == [])
    }
  }

  @Test func `a task that outlives the fetch of a probe is no part of the probe`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try subject(on: executor) { $0.circuitBreaker?.probeCount = 2 }
      try await open(subject)
      subject.clock.advance(by: .seconds(10))
      let gate = Gate()
      let tasks = Recorder<Task<Int, any Error>>()
      let value = try await subject.value("first") { _ in
        tasks.record(
          Task(executorPreference: executor) {
            await gate.passUncancelled()
            return try await subject.value("late") { _ in 1 }
          })
        return 5
      }
      let hold = Gate()
      let second = subject.load("second") { _ in
        await hold.passUncancelled()
        return 6
      }
      await hold.arrivals(atLeast: 1)
      gate.open()
      await #expect(throws: CisternError.self) { try await tasks.elements[0].value }
      hold.open()
      try #require(try await second.value == 6 && value == 5)
      try #require(subject.cache.loader.settings.circuit?.phase == .closed && subject.findings == [])
    }
  }

  @Test func `a probe that its caller left does not close the breaker, also if it returns a value`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try subject(on: executor)
      try await open(subject)
      subject.clock.advance(by: .seconds(10))
      let gate = Gate()
      let origin = ScriptedOrigin<String, Int> { _, _ in .gatedUncancelled(gate, .value(1)) }
      let load = subject.load("a", fetch: origin.fetch)
      await gate.arrivals(atLeast: 1)
      load.cancel()
      _ = await outcome(load)
      gate.open()
      while origin.runningCount > 0 { await Task.yield() }
      for _ in 0..<50 { await Task.yield() }
      try #require(subject.cache.loader.settings.circuit?.phase.state == .halfOpen)
      // The breaker admits the next probe.
      try #require(try await subject.value("b") { _ in 2 } == 2)
      try #require(subject.cache.loader.settings.circuit?.phase == .closed)
      try #require(subject.findings == [])
    }
  }
}
