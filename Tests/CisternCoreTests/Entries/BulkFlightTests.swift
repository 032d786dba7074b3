import CisternCore
import CisternTesting
import CisternTestSupport
import Testing

/// Bulk loads that join the flights of other loads.
struct BulkFlightTests {
  @Test(arguments: SubjectKind.caches)
  func `a key that another bulk load does not return is fetched by the one that joined it`(kind: SubjectKind) throws {
    try SeededSchedule.explore(seeds: 100) { executor in
      let subject = try Subject(kind, on: executor)
      let cache = subject.cache
      let gate = Gate()
      let asked = Recorder<Set<String>>()
      let first = Task(executorPreference: executor) {
        try await cache.values(forKeys: ["a", "b", "neither"]) { _ in
          await gate.passUncancelled()
          return ["a": 1]
        }
      }
      await gate.arrivals(atLeast: 1)
      let second = Task(executorPreference: executor) {
        try await cache.values(forKeys: ["a", "b", "c", "neither"]) { keys in
          asked.record(Set(keys))
          return ["b": 2, "c": 3]
        }
      }
      while cache.statistics.joins < 3 { await Task.yield() }
      gate.open()
      let left = try await first.value
      try #require(left.values == ["a": 1] && left.missing == ["b", "neither"])
      let result = try await second.value
      try #require(result.values == ["a": 1, "b": 2, "c": 3])
      try #require(result.missing == ["neither"] && result.failures.isEmpty)
      try #require(asked.elements == [["c"], ["b", "neither"]])
      try #require(subject.findings == [])
    }
  }

  @Test func `escalating a bulk load also raises the priority of flights that it waits for later`() throws {
    try SeededSchedule.explore(seeds: 100) { executor in
      let subject = try Subject(.memory, on: executor)
      let cache = subject.cache
      let gates = ["a": Gate(), "b": Gate()]
      let origin = ScriptedOrigin<String, Int> { key, number in .gated(gates[key]!, .value(number)) }
      let loads = gates.keys.sorted().map { subject.load($0, priority: .low, fetch: origin.fetch) }
      for gate in gates.values { await gate.arrivals(atLeast: 1) }
      let bulk = Task(executorPreference: executor, priority: .low) {
        try await cache.values(forKeys: ["a", "b"]) { _ in [:] }
      }
      while cache.statistics.joins < 2 { await Task.yield() }
      bulk.escalatePriority(to: .high)
      gates["a"]!.open()
      _ = await loads[0].result
      for _ in 0..<40 { await Task.yield() }
      gates["b"]!.open()
      try #require(try await bulk.value.values == ["a": 1, "b": 1])
      try #require(origin.calls(for: "b")[0].finalPriority == .high)
    }
  }
}
