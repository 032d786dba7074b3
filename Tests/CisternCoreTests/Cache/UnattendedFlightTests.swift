import CisternCore
import CisternTestSupport
import CisternTesting
import Testing

/// Keys of a bulk load without waiters, while the fetch continues for other keys.
struct UnattendedFlightTests {
  @Test(arguments: SubjectKind.caches, LeftBulkLoad.JoinForm.allCases)
  func `a load of a key that a bulk load left joins the fetch that continues for another key`(
    kind: SubjectKind, form: LeftBulkLoad.JoinForm
  ) throws {
    try SeededSchedule.explore(seeds: 50) { executor in
      let subject = try Subject(kind, on: executor)
      let left = try await LeftBulkLoad(subject)
      let joined = await left.joinA(form)
      try #require(!subject.cache.refresh("a") { _ in .store(-1) })
      left.gate.open()
      try #require(try await joined.value == 100)
      try #require(try await left.other.value == 200)
      try #require(left.calls.elements == [["a", "bb"]] && left.cancellations.elements == [false])
      try #require(subject.valuesFromBothTiers("a") == (kind == .memory ? [100, nil] : [100, 100]))
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches, [false, true])
  func `the value of a key without waiters is stored, and no fetch of it begins`(
    kind: SubjectKind, timesOut: Bool
  ) throws {
    try SeededSchedule.explore(seeds: 100) { executor in
      let subject = try Subject(kind, on: executor)
      let left = try await LeftBulkLoad(subject, .init(timesOut: timesOut))
      try #require(left.context(of: "a")?.isStorable == true)
      left.gate.open()
      try #require(try await left.other.value == 200)
      while subject.inProgressCount > 0 { await Task.yield() }
      try #require(try await subject.value("a") { _ in -1 } == 100)
      try #require(subject.valuesFromBothTiers("a") == (kind == .memory ? [100, nil] : [100, 100]))
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `a load of the last key keeps the fetch alive, or begins a new one, and never joins a cancelled fetch`(
    kind: SubjectKind
  ) throws {
    var outcomes: Set<Int> = []
    let recorded = Recorder<Int>()
    try SeededSchedule.explore(seeds: 300) { executor in
      let subject = try Subject(kind, on: executor)
      let left = try await LeftBulkLoad(subject, .init(ignoresCancellation: true))
      var generator = SeededGenerator(seed: executor.seed)
      let fetched = Recorder<Int>()
      // The last waiter leaves while a caller of the other key begins.
      let newcomer = Task(executorPreference: executor) {
        try await subject.value("a") { _ in
          fetched.record(8)
          return 8
        }
      }
      await pause(&generator)
      left.other.cancel()
      try #require(await outcome(left.other) == .cancelled)
      while subject.cache.statistics.joins < 2, fetched.count == 0 { await Task.yield() }
      left.gate.open()
      let value = try await newcomer.value
      try #require(value == (fetched.count == 0 ? 100 : 8))
      while left.cancellations.count == 0 { await Task.yield() }
      // The fetch was cancelled if and only if the newcomer did not join it.
      try #require(left.cancellations.elements == [value == 8])
      while subject.inProgressCount > 0 { await Task.yield() }
      try #require(subject.cache["a"] == value && subject.cache["bb"] == (value == 8 ? nil : 200))
      recorded.record(value)
      try #require(subject.findings == [])
    }
    outcomes = Set(recorded.elements)
    if SeededSchedule.seeds(300).count >= 300 { #expect(outcomes == [8, 100]) }
  }

  @Test(arguments: SubjectKind.caches)
  func `when the last waiter of all keys leaves, each key leaves its entry at once, and nothing is stored`(
    kind: SubjectKind
  ) throws {
    try SeededSchedule.explore(seeds: 100) { executor in
      let subject = try Subject(kind, on: executor)
      let left = try await LeftBulkLoad(subject, .init(ignoresCancellation: true))
      let joined = await left.joinA(.plain)
      left.other.cancel()
      try #require(await outcome(left.other) == .cancelled)
      // The waiter of the other key keeps the fetch.
      try #require(left.context(of: "bb")?.isStorable == true && subject.inProgressCount == 2)
      joined.cancel()
      _ = await joined.result
      try #require(subject.inProgressCount == 0)
      for context in left.contexts.elements { try #require(!context.isStorable && !context.announce(9)) }
      try #require(subject.cache.refresh("a") { _ in .store(5) })
      left.gate.open()
      while left.cancellations.count == 0 || subject.inProgressCount > 0 { await Task.yield() }
      try #require(left.cancellations.elements == [true])
      try #require(subject.cache["a"] == 5 && subject.cache["bb"] == nil)
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `each key is fetched once at a time while callers of many bulk loads leave`(kind: SubjectKind) throws {
    try SeededSchedule.explore(seeds: 300) { executor in
      let subject = try Subject(kind, on: executor)
      let ledger = OverlapLedger()
      let keys = ["a", "bb", "ccc"]
      let tasks = (0..<6).map { number in
        Task(executorPreference: executor) {
          var generator = SeededGenerator(seed: executor.seed * 6 + UInt64(number))
          await pause(&generator)
          let wanted = keys.filter { _ in generator.next(below: 3) > 0 }
          let yields = generator.next(below: 8)
          _ = try await subject.cache.load(keys: wanted) { contexts in
            try await ledger.fetch(contexts.map(\.key), yields: yields)
            return Dictionary(uniqueKeysWithValues: contexts.map { ($0.key, .returnOnly(1)) })
          }
        }
      }
      var generator = SeededGenerator(seed: executor.seed)
      for task in tasks where generator.next(below: 2) == 0 {
        await pause(&generator)
        task.cancel()
      }
      for task in tasks { _ = await task.result }
      while subject.inProgressCount > 0 || ledger.runningCount > 0 { await Task.yield() }
      try #require(ledger.overlaps == 0)
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `if configured, the fetch of keys without waiters completes`(kind: SubjectKind) throws {
    try SeededSchedule.explore(seeds: 50) { executor in
      let subject = try Subject(kind, on: executor, completesAbandonedFlights: true)
      let left = try await LeftBulkLoad(subject)
      left.other.cancel()
      _ = await outcome(left.other)
      let joined = await left.joinA(.plain)
      left.gate.open()
      try #require(try await joined.value == 100)
      while subject.inProgressCount > 0 { await Task.yield() }
      try #require(subject.cache["bb"] == 200 && left.cancellations.elements == [false])
      try #require(subject.findings == [])
    }
  }
}
