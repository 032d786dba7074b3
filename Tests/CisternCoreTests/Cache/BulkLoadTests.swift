import CisternCore
import CisternTesting
import CisternTestSupport
import Testing

/// Loads of several keys with one fetch, beside loads of single keys.
struct BulkLoadTests {
  /// An origin that fetches several keys at a time. It waits at a gate, omits given keys, and can fail.
  private final class BulkOrigin: Sendable {
    let gate: Gate
    let calls = Recorder<Set<String>>()
    let cancellations = Recorder<Bool>()
    let omitted: Set<String>
    let fails: Bool

    init(isOpen: Bool = false, omitting omitted: Set<String> = [], fails: Bool = false) {
      gate = Gate(isOpen: isOpen)
      self.omitted = omitted
      self.fails = fails
    }

    @Sendable func fetch(_ keys: [String]) async throws -> [String: Int] {
      calls.record(Set(keys))
      do { try await gate.pass() } catch {
        cancellations.record(true)
        throw error
      }
      if fails { throw Broken() }
      var values: [String: Int] = [:]
      for key in keys where !omitted.contains(key) { values[key] = key.count * 100 }
      return values
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `bulk loads and single loads join each other, and each key is fetched once`(
    kind: SubjectKind
  ) throws {
    try SeededSchedule.explore(seeds: 300) { executor in
      let subject = try Subject(kind, on: executor)
      let cache = subject.cache
      let single = ScriptedOrigin<String, Int> { key, _ in .yielding(3, .value(key.count * 100)) }
      let bulk = BulkOrigin(isOpen: true)
      let tasks = [
        Task(executorPreference: executor) {
          try await cache.values(forKeys: ["a", "bb", "ccc"], fetch: bulk.fetch).values
        },
        Task(executorPreference: executor) {
          try await cache.values(forKeys: ["bb", "ccc", "d"], fetch: bulk.fetch).values
        },
      ]
      let loads = [("bb", subject.load("bb", fetch: single.fetch)), ("ccc", subject.load("ccc", fetch: single.fetch))]
      try #require(try await tasks[0].value == ["a": 100, "bb": 200, "ccc": 300])
      try #require(try await tasks[1].value == ["bb": 200, "ccc": 300, "d": 100])
      for (key, load) in loads { try #require(try await load.value == key.count * 100) }
      for key in ["a", "bb", "ccc", "d"] {
        let count = single.callCount(for: key) + bulk.calls.elements.count { $0.contains(key) }
        try #require(count == 1, "\(key)")
      }
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.tiered)
  func `keys that the disk has are not fetched, in every combination`(kind: SubjectKind) throws {
    try SeededSchedule.explore(seeds: 100) { executor in
      let subject = try Subject(kind, on: executor)
      var generator = SeededGenerator(seed: executor.seed)
      let keys = Set((0..<6).map { "key \($0)" })
      let onDisk = keys.filter { _ in generator.next(below: 2) == 0 }
      for key in onDisk { subject.cache[key] = 1 }
      subject.cache.trim(toCost: 0)
      let bulk = BulkOrigin(isOpen: true)
      let result = try await subject.cache.values(forKeys: keys, fetch: bulk.fetch)
      try #require(Set(result.values.keys) == keys)
      for key in keys { try #require(result[key] == (onDisk.contains(key) ? 1 : 500)) }
      try #require(bulk.calls.elements == (onDisk == keys ? [] : [keys.subtracting(onDisk)]))
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `a key that the fetch omits is missing, the others are present, and a joined load fetches it alone`(
    kind: SubjectKind
  ) throws {
    try SeededSchedule.explore(seeds: 200) { executor in
      let subject = try Subject(kind, on: executor)
      let bulk = BulkOrigin(omitting: ["bb"])
      let task = Task(executorPreference: executor) {
        try await subject.cache.values(forKeys: ["a", "bb", "ccc"], fetch: bulk.fetch)
      }
      await bulk.gate.arrivals(atLeast: 1)
      let joined = subject.load("bb") { _ in 7 }
      await Task.yield()
      bulk.gate.open()
      let result = try await task.value
      try #require(result.values == ["a": 100, "ccc": 300])
      try #require(result.missing == ["bb"])
      try #require(result.failures.isEmpty)
      try #require(try await joined.value == 7)
      try #require(subject.cache["bb"] == 7)
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `a load that joined a fetch that omits its key fetches it, although its value is in grace`(
    kind: SubjectKind
  ) throws {
    try SeededSchedule.explore(seeds: 50) { executor in
      let subject = try Subject(kind, on: executor, expiry: .after(.seconds(60), graceStale: .seconds(600)))
      subject.cache["bb"] = 1
      subject.clock.advance(by: .seconds(61))
      let bulk = BulkOrigin(omitting: ["bb"])
      let task = Task(executorPreference: executor) {
        try await subject.cache.values(forKeys: ["a", "bb"], policy: .freshElseStale, fetch: bulk.fetch)
      }
      await bulk.gate.arrivals(atLeast: 1)
      let joined = subject.load("bb", policy: .freshElseStale) { _ in 7 }
      while subject.cache.statistics.joins == 0 { await Task.yield() }
      bulk.gate.open()
      try #require(try await joined.value == 7)
      try #require(try await task.value.values["a"] == 100)
      try #require(subject.cache["bb"] == 7 && subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `a failed fetch affects only its keys`(kind: SubjectKind) throws {
    try SeededSchedule.explore(seeds: 200) { executor in
      let subject = try Subject(kind, on: executor)
      subject.cache["a"] = 1
      let gate = Gate()
      let single = subject.load("bb") { _ in
        await gate.passUncancelled()
        return 2
      }
      await gate.arrivals(atLeast: 1)
      let bulk = BulkOrigin(isOpen: true, fails: true)
      let task = Task(executorPreference: executor) {
        try await subject.cache.values(forKeys: ["a", "bb", "ccc", "d"], fetch: bulk.fetch)
      }
      await bulk.gate.arrivals(atLeast: 1)
      gate.open()
      let result = try await task.value
      try #require(result.values == ["a": 1, "bb": 2])
      try #require(Set(result.failures.keys) == ["ccc", "d"])
      try #require(result.failures.values.allSatisfy { $0 is Broken })
      try #require(try await single.value == 2)
      // A retry fetches again.
      let retry = try await subject.cache.values(forKeys: ["ccc", "d"], fetch: BulkOrigin(isOpen: true).fetch)
      try #require(retry.values == ["ccc": 300, "d": 100])
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `a cancelled bulk load returns immediately, and its fetch ends when none of its keys has a waiter`(
    kind: SubjectKind
  ) throws {
    try SeededSchedule.explore(seeds: 300) { executor in
      let subject = try Subject(kind, on: executor)
      let bulk = BulkOrigin()
      let task = Task(executorPreference: executor) {
        try await subject.cache.values(forKeys: ["a", "bb"], fetch: bulk.fetch)
      }
      await bulk.gate.arrivals(atLeast: 1)
      let isJoined = executor.seed % 2 == 0
      let joined = isJoined ? subject.load("bb") { _ in 7 } : nil
      // Long enough for the load to join, in every order.
      for _ in 0..<40 { await Task.yield() }
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
      if let joined {
        try #require(bulk.cancellations.count == 0)
        bulk.gate.open()
        try #require(try await joined.value == 200)
        // The other key had no waiter any more, and was fetched and stored.
        try #require(try await subject.value("a") { _ in 8 } == 100)
      } else {
        while bulk.cancellations.count == 0 { await Task.yield() }
        try #require(try await subject.value("a") { _ in 8 } == 8)
      }
      for _ in 0..<20 { await Task.yield() }
      try #require(subject.findings == [])
    }
  }

  @Test func `an invalidation during a bulk load affects its keys as it does a single load's key`() throws {
    try SeededSchedule.explore(seeds: 200) { executor in
      let subject = try Subject(.twoTiers, on: executor)
      let bulk = BulkOrigin()
      let task = Task(executorPreference: executor) {
        try await subject.cache.values(forKeys: ["a", "bb", "ccc"], fetch: bulk.fetch)
      }
      await bulk.gate.arrivals(atLeast: 1)
      subject.cache["a"] = nil
      subject.cache["bb"] = 5
      bulk.gate.open()
      let result = try await task.value
      try #require(result.values == ["a": 100, "bb": 200, "ccc": 300])
      try #require(subject.valuesFromBothTiers("a") == [nil, nil])
      try #require(subject.valuesFromBothTiers("bb") == [5, 5])
      try #require(subject.valuesFromBothTiers("ccc") == [300, 300])
      try #require(subject.findings == [])
    }
  }
}
