import CisternCore
import CisternTesting
import CisternTestSupport
import Testing

/// The cancellation of waiters and of fetches without waiters.
struct LoadCancellationTests {
  @Test(arguments: SubjectKind.allCases)
  func `cancelled waiters, the leader included, return immediately, and the others keep waiting`(
    kind: SubjectKind
  ) throws {
    try SeededSchedule.explore(seeds: 500) { executor in
      var generator = SeededGenerator(seed: executor.seed)
      let subject = try Subject(kind, on: executor)
      let gate = Gate()
      let started = Gate(isOpen: true)
      let origin = ScriptedOrigin<String, Int> { _, number in .gated(gate, .value(number)) }
      let loads = (0..<6).map { _ in
        Task(executorPreference: executor) {
          await started.passUncancelled()
          return try await subject.value("a", fetch: origin.fetch)
        }
      }
      await started.arrivals(atLeast: 6)
      let spared = generator.next(below: 6)
      let cancelled = (0..<6).filter { $0 != spared && generator.next(below: 2) == 0 }
      for index in cancelled { loads[index].cancel() }
      // The cancelled loads return although the fetch is still blocked.
      for index in cancelled { try #require(await outcome(loads[index]) == .cancelled) }
      try #require(!origin.calls.contains { $0.wasCancelled })
      gate.open()
      for index in 0..<6 where !cancelled.contains(index) {
        try #require(await outcome(loads[index]) == .value(1))
      }
      try #require(origin.callCount == 1)
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.allCases)
  func `a cancellation at any instant gives each waiter one outcome and leaves no flight`(kind: SubjectKind) throws {
    try SeededSchedule.explore(seeds: 1_000) { executor in
      let subject = try Subject(kind, on: executor)
      let origin = ScriptedOrigin<String, Int> { _, number in .yielding(3, .value(number)) }
      let loads = (0..<5).map { _ in subject.load("a", fetch: origin.fetch) }
      let cancellers = loads.enumerated().map { index, load in
        Task(executorPreference: executor) {
          var generator = SeededGenerator(seed: executor.seed * 5 + UInt64(index))
          guard generator.next(below: 3) > 0 else { return }
          await pause(&generator, atMost: 9)
          load.cancel()
        }
      }
      for canceller in cancellers { await canceller.value }
      for load in loads {
        switch await outcome(load) {
        case .value(let number): try #require((1...5).contains(number))
        case .cancelled: try #require(load.isCancelled)
        case .failure(let error): Issue.record("seed \(executor.seed): \(error)")
        }
      }
      try #require(subject.inProgressCount == 0)
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.allCases)
  func `when the last waiter leaves, the fetch is cancelled, and new loads do not join it`(kind: SubjectKind) throws {
    try SeededSchedule.explore(seeds: 500) { executor in
      let subject = try Subject(kind, on: executor)
      let gate = Gate()
      let other = Gate()
      let origin = ScriptedOrigin<String, Int> { _, number in .gated(other, .value(number)) }
      // This fetch ignores its cancellation and ends last.
      origin.script(.gatedUncancelled(gate, .value(-1)), for: "a")
      let loads = (0..<3).map { _ in subject.load("a", fetch: origin.fetch) }
      await gate.arrivals(atLeast: 1)
      for load in loads { load.cancel() }
      // This load begins while the others leave.
      let newcomer = subject.load("a", fetch: origin.fetch)
      for load in loads { try #require(await outcome(load) == .cancelled) }
      let another = subject.load("a", fetch: origin.fetch)
      await other.arrivals(atLeast: 1)
      try #require(origin.calls[0].wasCancelled)
      try #require(!origin.calls[1].wasCancelled)
      other.open()
      // In a cache, both new loads share one flight. A coalescer keeps no value and may need one flight for each.
      let numbers: Set<Outcome> = kind == .coalescer ? [.value(2), .value(3)] : [.value(2)]
      try #require(numbers.contains(await outcome(newcomer)))
      try #require(numbers.contains(await outcome(another)))
      gate.open()
      while origin.runningCount > 0 { await Task.yield() }
      if kind != .coalescer {
        try #require(origin.callCount == 2)
        try #require(subject.valuesFromBothTiers("a")[0] == 2)
      }
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.allCases)
  func `if configured, a fetch without waiters completes, can be joined, and is stored`(
    kind: SubjectKind
  ) throws {
    try SeededSchedule.explore(seeds: 300) { executor in
      let subject = try Subject(kind, on: executor, completesAbandonedFlights: true)
      let gate = Gate()
      let origin = ScriptedOrigin<String, Int> { _, number in .gated(gate, .value(number)) }
      let load = subject.load("a", fetch: origin.fetch)
      await gate.arrivals(atLeast: 1)
      load.cancel()
      try #require(await outcome(load) == .cancelled)
      let joins = executor.seed % 2 == 0
      let newcomer = joins ? subject.load("a", fetch: origin.fetch) : nil
      for _ in 0..<3 { await Task.yield() }
      gate.open()
      while origin.runningCount > 0 { await Task.yield() }
      if kind != .coalescer {
        if let newcomer { try #require(await outcome(newcomer) == .value(1)) }
        for _ in 0..<20 where subject.inProgressCount > 0 { await Task.yield() }
        try #require(subject.cache["a"] == 1)
        try #require(origin.callCount == 1)
      }
      try #require(!origin.calls[0].wasCancelled)
      _ = await newcomer?.result
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.allCases)
  func `a caller that is cancelled before its load starts no fetch, and returns once`(kind: SubjectKind) throws {
    try SeededSchedule.explore(seeds: 100) { executor in
      let subject = try Subject(kind, on: executor)
      let origin = ScriptedOrigin<String, Int> { _, number in .value(number) }
      let gate = Gate()
      let load = Task(executorPreference: executor) {
        await gate.passUncancelled()
        return try await subject.value("a", fetch: origin.fetch)
      }
      load.cancel()
      gate.open()
      try #require(await outcome(load) == .cancelled)
      try #require(origin.callCount == 0)
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.allCases)
  func `a leader cancelled before its task begins need not fetch, and others get the value`(kind: SubjectKind) throws {
    try SeededSchedule.explore(seeds: 500) { executor in
      let subject = try Subject(kind, on: executor)
      let origin = ScriptedOrigin<String, Int> { _, number in .value(number) }
      let leader = subject.load("a", fetch: origin.fetch)
      let follower = subject.load("a", fetch: origin.fetch)
      await Task.yield()
      leader.cancel()
      switch await outcome(leader) {
      case .cancelled, .value: break
      case .failure(let error): Issue.record("seed \(executor.seed): \(error)")
      }
      guard case .value = await outcome(follower) else {
        Issue.record("seed \(executor.seed): the follower got no value")
        return
      }
      try #require(subject.findings == [])
    }
  }
}
