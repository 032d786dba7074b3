import CisternTesting
import Testing

struct ScriptedOriginTests {
  @TaskLocal static var trace = "none"

  private struct Offline: Error {}

  @Test func `calls are answered by the script, and then by the default`() async throws {
    let origin = ScriptedOrigin<String, Int> { _, number in .value(number * 10) }
    origin.script(.failure(Offline()), .value(7), for: "a")
    await #expect(throws: Offline.self) { try await origin.fetch("a") }
    #expect(try await origin.fetch("a") == 7)
    #expect(try await origin.fetch("a") == 30)
    #expect(try await origin.fetch("b") == 10)
    #expect(origin.callCount == 4)
    #expect(origin.callCount(for: "a") == 3)
    #expect(origin.calls(for: "a").map(\.outcome) == [.failure, .value, .value])
    #expect(origin.runningCount == 0)
  }

  @Test func `the greatest concurrency is counted for each key`() throws {
    try SeededSchedule.explore(seeds: 200) { executor in
      let gate = Gate()
      let origin = ScriptedOrigin<String, Int> { _, number in .gated(gate, .yielding(2, .value(number))) }
      let tasks = ["a", "b", "a", "a"].map { key in
        Task(executorPreference: executor) { try await origin.fetch(key) }
      }
      await gate.arrivals(atLeast: 4)
      try #require(origin.runningCount == 4)
      gate.open()
      for task in tasks { _ = try await task.value }
      try #require(origin.greatestConcurrency(for: "a") == 3)
      try #require(origin.greatestConcurrency(for: "b") == 1)
      try #require(origin.greatestConcurrency == 3)
    }
  }

  @Test func `a cancelled fetch is recorded, and ends at its gate unless it ignores cancellation`() throws {
    try SeededSchedule.explore(seeds: 200) { executor in
      let gate = Gate()
      let origin = ScriptedOrigin<String, Int> { _, _ in .gatedUncancelled(gate, .value(1)) }
      origin.script(.gated(gate, .value(2)), for: "heeds")
      let heeding = Task(executorPreference: executor) { try await origin.fetch("heeds") }
      let deaf = Task(executorPreference: executor) { try await origin.fetch("deaf") }
      await gate.arrivals(atLeast: 2)
      heeding.cancel()
      deaf.cancel()
      await #expect(throws: CancellationError.self) { try await heeding.value }
      try #require(origin.runningCount == 1)
      gate.open()
      try #require(await deaf.value == 1)
      try #require(origin.calls.map(\.wasCancelled) == [true, true])
    }
  }

  @Test func `a call sees its task's priority, escalated or not, and its task-local values`() throws {
    try SeededSchedule.explore(seeds: 100) { executor in
      let traces = Recorder<String>()
      let gate = Gate()
      let origin = ScriptedOrigin<Int, Int>(onCall: { _ in traces.record(Self.trace) }) { _, number in
        .gated(gate, .value(number))
      }
      let task = Self.$trace.withValue("request 7") {
        Task(executorPreference: executor, priority: .low) { try await origin.fetch(1) }
      }
      await gate.arrivals(atLeast: 1)
      task.escalatePriority(to: .high)
      gate.open()
      _ = try await task.value
      try #require(traces.elements == ["request 7"])
      try #require(origin.calls[0].priority == .low)
      try #require(origin.calls[0].finalPriority == .high)
    }
  }

  @Test func `several keys are fetched concurrently, each as a call`() async throws {
    let origin = ScriptedOrigin<Int, Int> { key, _ in .computed { key, number in key * 100 + number } }
    #expect(try await origin.fetch([1, 2]) == [1: 101, 2: 201])
    #expect(origin.bulkCalls == [[1, 2]])
    #expect(origin.callCount == 2)
  }
}
