import CisternCore
import CisternTesting
import CisternTestSupport
import Testing

/// One fetch per key for any number of callers.
struct SingleFlightTests {
  @Test(arguments: SubjectKind.allCases)
  func `many concurrent loads of an absent key run one fetch`(kind: SubjectKind) throws {
    try SeededSchedule.explore(seeds: 300) { executor in
      let subject = try Subject(kind, on: executor)
      let gate = Gate()
      let started = Gate(isOpen: true)
      let origin = ScriptedOrigin<String, Int> { _, number in .gated(gate, .yielding(2, .value(number))) }
      let loads = (0..<8).map { _ in
        Task(executorPreference: executor) {
          await started.passUncancelled()
          return try await subject.value("a", fetch: origin.fetch)
        }
      }
      await started.arrivals(atLeast: 8)
      try #require(subject.inProgressCount <= 1)
      gate.open()
      for load in loads { try #require(try await load.value == 1) }
      try #require(origin.callCount == 1)
      try #require(subject.inProgressCount == 0)
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `a load at any time, before or after publication, runs no second fetch`(kind: SubjectKind) throws {
    try SeededSchedule.explore(seeds: 500) { executor in
      let subject = try Subject(kind, on: executor)
      let origin = ScriptedOrigin<String, Int> { _, number in .yielding(4, .value(number)) }
      let loads = (0..<8).map { index in
        Task(executorPreference: executor) {
          var generator = SeededGenerator(seed: executor.seed * 8 + UInt64(index))
          await pause(&generator, atMost: 12)
          return try await subject.value("a", fetch: origin.fetch)
        }
      }
      for load in loads { try #require(try await load.value == 1) }
      try #require(origin.callCount == 1)
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `a hit returns without suspending`(kind: SubjectKind) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Subject(kind, on: executor)
      subject.cache["a"] = 7
      let order = Recorder<String>()
      let other = Task(executorPreference: executor) { order.record("other") }
      for _ in 0..<100 { try #require(try await subject.value("a") { _ in throw Broken() } == 7) }
      order.record("this")
      await other.value
      try #require(order.elements == ["this", "other"])
    }
  }

  @Test(arguments: SubjectKind.allCases)
  func `an error goes to all waiters of one fetch, and a retry in a catch block starts a new flight`(
    kind: SubjectKind
  ) throws {
    try SeededSchedule.explore(seeds: 300) { executor in
      let subject = try Subject(kind, on: executor)
      let gate = Gate()
      let started = Gate(isOpen: true)
      let origin = ScriptedOrigin<String, Int> { _, number in .yielding(2, .value(number)) }
      origin.script(.gated(gate, .failure(Broken(number: 1))), for: "a")
      let loads = (0..<6).map { _ in
        Task(executorPreference: executor) {
          await started.passUncancelled()
          do {
            return try await subject.value("a", fetch: origin.fetch)
          } catch let error as Broken {
            try #require(error == Broken(number: 1))
            try #require(origin.calls(for: "a").first?.outcome == .failure)
            return try await subject.value("a", fetch: origin.fetch)
          }
        }
      }
      await started.arrivals(atLeast: 6)
      gate.open()
      for load in loads { try #require(try await load.value >= 2) }
      // In a cache, the retries share one flight or find its value. A coalescer keeps no value.
      if kind != .coalescer { try #require(origin.callCount == 2) }
      try #require(origin.greatestConcurrency == 1)
      try #require(subject.inProgressCount == 0)
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `an entry in progress costs nothing and is not evicted`(kind: SubjectKind) throws {
    try SeededSchedule.explore(seeds: 100) { executor in
      let subject = try Subject(kind, on: executor, memoryLimit: 64)
      let gate = Gate()
      let origin = ScriptedOrigin<String, Int> { _, number in .gated(gate, .value(number)) }
      let first = subject.load("a", fetch: origin.fetch)
      await gate.arrivals(atLeast: 1)
      try #require(subject.cache.statistics.memory.cost == 0)
      for index in 0..<200 { subject.cache["other \(index)"] = index }
      subject.cache.trim(toCost: 0)
      try #require(subject.inProgressCount == 1)
      let second = subject.load("a", fetch: origin.fetch)
      await Task.yield()
      gate.open()
      try #require(try await first.value == 1)
      try #require(try await second.value == 1)
      try #require(subject.findings == [])
    }
  }

  @Test func `flights of different keys do not wait for each other`() throws {
    try SeededSchedule.explore(seeds: 100) { executor in
      let subject = try Subject(.memory, on: executor)
      let gate = Gate()
      let origin = ScriptedOrigin<String, Int> { _, _ in .value(2) }
      origin.script(.gated(gate, .value(1)), for: "slow")
      let slow = subject.load("slow", fetch: origin.fetch)
      try #require(try await subject.load("quick", fetch: origin.fetch).value == 2)
      gate.open()
      try #require(try await slow.value == 1)
    }
  }
}
