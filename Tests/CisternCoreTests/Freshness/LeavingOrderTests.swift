import CisternCore
import CisternTesting
import CisternTestSupport
import Testing

/// Callers that leave a flight one after the other, each in its own way, and callers that wait for several flights.
struct LeavingOrderTests {
  /// The way in which a second caller leaves.
  enum Leaving: CaseIterable, Sendable {
    case cancelled, timedOut

    var policy: LoadPolicy {
      switch self {
      case .cancelled: .freshOnly
      case .timedOut: .freshOnly.timingOut(after: .seconds(3))
      }
    }
  }

  @Test(arguments: SubjectKind.caches, Leaving.allCases)
  func `a flight that a caller left with a stale value is stored, also if later callers join and leave it`(
    kind: SubjectKind, leaving: Leaving
  ) throws {
    try SeededSchedule.explore(seeds: 60) { executor in
      let (subject, gate, origin) = try Subject.withOlderValue(age: .seconds(61), kind, on: executor)
      let soft = LoadPolicy.freshElseStale.returningStale(after: .seconds(2))
      // One or two callers leave at the soft timeout.
      let softCount = executor.seed % 2 == 0 ? 1 : 2
      let first = (0..<softCount).map { _ in subject.load("a", policy: soft, fetch: origin.fetch) }
      while subject.clock.sleeperCount < softCount { await Task.yield() }
      subject.clock.advance(by: .seconds(2))
      for load in first { try #require(try await load.value == -1) }
      for round in 1...2 {
        let joins = subject.cache.statistics.joins
        let second = subject.load("a", policy: leaving.policy, fetch: origin.fetch)
        while subject.cache.statistics.joins == joins { await Task.yield() }
        try await leave(second, leaving, subject)
        try #require(subject.inProgressCount == 1, "round \(round)")
      }
      gate.open()
      while subject.inProgressCount > 0 { await Task.yield() }
      try #require(subject.cache["a"] == 1)
      try #require(origin.callCount == 1)
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches, Leaving.allCases)
  func `a flight is stored if the caller with a stale value leaves last, and not if all were cancelled`(
    kind: SubjectKind, leaving: Leaving
  ) throws {
    try SeededSchedule.explore(seeds: 60) { executor in
      let (subject, gate, origin) = try Subject.withOlderValue(age: .seconds(61), kind, on: executor)
      let soft = LoadPolicy.freshElseStale.returningStale(after: .seconds(5))
      let first = subject.load("a", policy: soft, fetch: origin.fetch)
      while subject.clock.sleeperCount == 0 { await Task.yield() }
      let second = subject.load("a", policy: leaving.policy, fetch: origin.fetch)
      while subject.cache.statistics.joins == 0 { await Task.yield() }
      try await leave(second, leaving, subject)
      try #require(subject.inProgressCount == 1)
      let isCancelled = executor.seed % 2 == 0
      if isCancelled {
        first.cancel()
        try #require(await outcome(first) == .cancelled)
        while subject.inProgressCount > 0 { await Task.yield() }
      } else {
        subject.clock.advance(by: .seconds(5))
        try #require(try await first.value == -1)
        try #require(subject.inProgressCount == 1)
      }
      gate.open()
      while subject.inProgressCount > 0 || origin.runningCount > 0 { await Task.yield() }
      try #require(subject.cache["a"] == (isCancelled ? nil : 1))
      try #require(origin.callCount == 1)
      try #require(subject.findings == [])
    }
  }

  private func leave(_ load: Task<Int, any Error>, _ leaving: Leaving, _ subject: Subject) async throws {
    switch leaving {
    case .cancelled:
      load.cancel()
      try #require(await outcome(load) == .cancelled)
    case .timedOut:
      while subject.clock.sleeperCount == 0 { await Task.yield() }
      subject.clock.advance(by: .seconds(3))
      let error = await #expect(throws: CisternError.self) { try await load.value }
      try #require(error?.code == .timedOut)
    }
  }

  @Test(arguments: SubjectKind.caches, [false, true])
  func `a timeout covers the joined flight and the next one, if the first was invalidated`(
    kind: SubjectKind, isBulk: Bool
  ) throws {
    try SeededSchedule.explore(seeds: 60) { executor in
      let subject = try Subject(kind, on: executor, expiry: .minute)
      let cache = subject.cache
      let (gate, hanging) = (Gate(), Gate())
      // This flight has no value for callers that join it late: it was invalidated, or it is a bulk load that leaves
      // the key out.
      let first = Task(executorPreference: executor) {
        if isBulk {
          _ = try await cache.values(forKeys: ["a"]) { _ in
            await gate.passUncancelled()
            return [:]
          }
        } else {
          _ = try await cache.value(forKey: "a", tags: ["t"]) { _ in
            await gate.passUncancelled()
            return 1
          }
        }
      }
      await gate.arrivals(atLeast: 1)
      if !isBulk { cache.removeAll(tagged: "t") }
      let load = subject.load("a", policy: .cachedOrFetch.timingOut(after: .seconds(5))) { _ in
        try await hanging.pass()
        return 2
      }
      while subject.clock.sleeperCount == 0 { await Task.yield() }
      subject.clock.advance(by: .seconds(4))
      gate.open()
      try await first.value
      await hanging.arrivals(atLeast: 1)
      while subject.clock.sleeperCount == 0 { await Task.yield() }
      subject.clock.advance(by: .seconds(1))
      let error = await #expect(throws: CisternError.self) { try await load.value }
      try #require(error?.code == .timedOut)
      hanging.open()
      while subject.inProgressCount > 0 { await Task.yield() }
      try #require(subject.findings == [])
    }
  }
}
