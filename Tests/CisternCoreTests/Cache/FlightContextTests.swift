import CisternCore
import CisternTesting
import CisternTestSupport
import Testing

/// The priority and the task-local values of a flight.
struct FlightContextTests {
  @TaskLocal static var request = "none"

  @Test(arguments: SubjectKind.allCases)
  func `a waiter of a higher priority raises the flight's priority, also if that waiter leaves`(
    kind: SubjectKind
  ) throws {
    try SeededSchedule.explore(seeds: 100) { executor in
      let subject = try Subject(kind, on: executor)
      let gate = Gate()
      let started = Gate(isOpen: true)
      let origin = ScriptedOrigin<String, Int> { _, number in .gated(gate, .value(number)) }
      let low = subject.load("a", priority: .low, fetch: origin.fetch)
      await gate.arrivals(atLeast: 1)
      try #require(origin.calls[0].priority == .low)
      let high = Task(executorPreference: executor, priority: .high) {
        await started.passUncancelled()
        return try await subject.value("a", fetch: origin.fetch)
      }
      await started.arrivals(atLeast: 1)
      if executor.seed % 2 == 0 {
        high.cancel()
        try #require(await outcome(high) == .cancelled)
      }
      gate.open()
      try #require(try await low.value == 1)
      try #require(origin.calls[0].finalPriority == .high)
      try #require(!origin.calls[0].wasCancelled)
      _ = await high.result
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.allCases)
  func `a waiting task that is escalated raises the flight's priority`(kind: SubjectKind) throws {
    try SeededSchedule.explore(seeds: 100) { executor in
      let subject = try Subject(kind, on: executor)
      let gate = Gate()
      let origin = ScriptedOrigin<String, Int> { _, number in .gated(gate, .value(number)) }
      let load = subject.load("a", priority: .low, fetch: origin.fetch)
      await gate.arrivals(atLeast: 1)
      load.escalatePriority(to: .high)
      gate.open()
      try #require(try await load.value == 1)
      try #require(origin.calls[0].finalPriority == .high)
    }
  }

  @Test(arguments: SubjectKind.allCases)
  func `the leader's task-local values reach the fetch`(kind: SubjectKind) throws {
    try SeededSchedule.explore(seeds: 50) { executor in
      let subject = try Subject(kind, on: executor)
      let requests = Recorder<String>()
      let gate = Gate()
      let origin = ScriptedOrigin<String, Int>(onCall: { _ in requests.record(Self.request) }) { _, number in
        .gated(gate, .value(number))
      }
      let leader = Self.$request.withValue("leader") { subject.load("a", fetch: origin.fetch) }
      await gate.arrivals(atLeast: 1)
      let follower = Self.$request.withValue("follower") { subject.load("a", fetch: origin.fetch) }
      await Task.yield()
      gate.open()
      _ = try await (leader.value, follower.value)
      try #require(requests.elements.first == "leader")
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `an escalated bulk load raises all flights that it waits for, and not only the next one`(
    kind: SubjectKind
  ) throws {
    try SeededSchedule.explore(seeds: 30) { executor in
      var settings = CacheConfiguration<Int>()
      settings.flightLimit = 1
      let subject = try Subject(kind, on: executor, settings: settings)
      let (cache, gate, calls) = (subject.cache, Gate(), Recorder<String>())
      // The load waits for its keys in any order. It most likely begins with one that it joins.
      let (joined, led) = ((0..<8).map { "joined\($0)" }, "led\(executor.seed)")
      let first = Task(executorPreference: executor) {
        try await cache.values(forKeys: joined) { keys in
          try await gate.pass()
          return Dictionary(uniqueKeysWithValues: keys.map { ($0, 1) })
        }
      }
      await gate.arrivals(atLeast: 1)
      let bulk = Task(executorPreference: executor, priority: .low) {
        try await cache.values(forKeys: joined + [led]) { keys in
          calls.record("bulk")
          return Dictionary(uniqueKeysWithValues: keys.map { ($0, 2) })
        }
      }
      while cache.statistics.joins < joined.count { await Task.yield() }
      let other = subject.load("other", priority: .medium) { _ in
        calls.record("other")
        return 3
      }
      // Both fetches wait for a permit.
      for _ in 0..<100 { await Task.yield() }
      bulk.escalatePriority(to: .high)
      gate.open()
      try #require(try await bulk.value[led] == 2)
      try #require(try await other.value == 3)
      _ = try await first.value
      try #require(calls.elements == ["bulk", "other"])
      try #require(subject.findings == [])
    }
  }
}
