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
}
