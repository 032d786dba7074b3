import CisternCore
import CisternTestSupport
import CisternTesting
import Testing

/// Keys of a bulk load without waiters, together with writes, invalidations, edits, early values, retries and failures.
struct ConcurrentUnattendedFlightTests {
  private static let minute = Expiry.after(.seconds(60), graceStale: .seconds(600))

  /// An operation that ends the right of a flight to store its result.
  enum Overtaking: CaseIterable, Sendable {
    case set, remove, removeAll, removeByTag, removeByPrefix, fetchAnew

    func run(in subject: Subject) async throws {
      let cache = subject.cache
      switch self {
      case .set: cache["a"] = 8
      case .remove: cache["a"] = nil
      case .removeAll: cache.removeAll()
      case .removeByTag: cache.removeAll(tagged: "tag")
      case .removeByPrefix: cache.removeAll(withPrefix: "a")
      case .fetchAnew: _ = try await subject.value("a", policy: .fetchAnew) { _ in 8 }
      }
    }
  }

  @Test(arguments: SubjectKind.caches, Overtaking.allCases)
  func `a write or an invalidation wins over the result of a key without waiters`(
    kind: SubjectKind, overtaking: Overtaking
  ) throws {
    try SeededSchedule.explore(seeds: 50) { executor in
      let subject = try Subject(kind, on: executor)
      let left = try await LeftBulkLoad(subject, .init(tags: ["tag"]))
      try await overtaking.run(in: subject)
      let loadsBefore = executor.seed % 2 == 0
      let load = loadsBefore ? subject.load("a") { _ in 8 } : nil
      for _ in 0..<executor.seed % 5 { await Task.yield() }
      left.gate.open()
      try #require(try await left.other.value == 200)
      while subject.inProgressCount > 0 { await Task.yield() }
      try #require(try await (load ?? subject.load("a") { _ in 8 }).value == 8)
      try #require(subject.valuesFromBothTiers("a") == (kind == .memory ? [8, nil] : [8, 8]))
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `a cache that merges puts the result of a key without waiters under a set value`(kind: SubjectKind) throws {
    try SeededSchedule.explore(seeds: 50) { executor in
      var settings = CacheConfiguration<Int>()
      settings.merge = { $0 + $1 }
      let subject = try Subject(kind, on: executor, settings: settings)
      let left = try await LeftBulkLoad(subject)
      subject.cache["a"] = 5
      left.gate.open()
      _ = try await left.other.value
      while subject.inProgressCount > 0 { await Task.yield() }
      try #require(subject.cache["a"] == 105)
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `the result of a key without waiters is stored below unconfirmed edits`(kind: SubjectKind) throws {
    try SeededSchedule.explore(seeds: 50) { executor in
      let subject = try Subject(kind, on: executor)
      let left = try await LeftBulkLoad(subject)
      let answer = Gate()
      let edit = Task(executorPreference: executor) {
        try await subject.cache.editValue(forKey: "a", { ($0 ?? 0) + 1_000 }) {
          await answer.passUncancelled()
          throw Broken()
        }
      }
      await answer.arrivals(atLeast: 1)
      left.gate.open()
      _ = try await left.other.value
      while subject.inProgressCount > 0 { await Task.yield() }
      try #require(subject.cache["a"] == 1_100)
      answer.open()
      _ = await edit.result
      try #require(subject.cache["a"] == 100)
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `a value announced for a key without waiters reaches later callers, and keeps the fetch`(
    kind: SubjectKind
  ) throws {
    try SeededSchedule.explore(seeds: 50) { executor in
      let subject = try Subject(kind, on: executor)
      let left = try await LeftBulkLoad(subject)
      try #require(left.context(of: "a")?.announce(7) == true && left.context(of: "a")?.announce(9) == false)
      try #require(try await subject.value("a") { _ in -1 } == 7)
      left.other.cancel()
      _ = await outcome(left.other)
      try #require(try await subject.value("a") { _ in -1 } == 7)
      left.gate.open()
      while subject.inProgressCount > 0 { await Task.yield() }
      try #require(subject.cache["a"] == 100 && subject.cache["bb"] == 200)
      try #require(left.cancellations.elements == [false])
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches, [false, true])
  func `a retry fetches keys without waiters again, and a failure ends their flights`(
    kind: SubjectKind, fails: Bool
  ) throws {
    try SeededSchedule.explore(seeds: 50) { executor in
      var settings = CacheConfiguration<Int>()
      settings.retry = RetryPolicy(attempts: 2, initialDelay: .zero, maximumDelay: .zero)
      let subject = try Subject(kind, on: executor, settings: settings)
      let left = try await LeftBulkLoad(subject, .init(failures: fails ? 2 : 1))
      let joined = executor.seed % 2 == 0 ? await left.joinA(.plain) : nil
      left.gate.open()
      let result = await outcome(left.other)
      try #require(fails ? result == .failure("\(Broken())") : result == .value(200))
      if fails, let joined {
        await #expect(throws: Broken.self) { try await joined.value }
      } else if let joined {
        try #require(try await joined.value == 100)
      }
      while subject.inProgressCount > 0 { await Task.yield() }
      try #require(left.calls.elements == [["a", "bb"], ["a", "bb"]])
      try #require(try await subject.value("a") { _ in 8 } == (fails ? 8 : 100))
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `a load that joins a key without waiters falls back to its stale value`(kind: SubjectKind) throws {
    try SeededSchedule.explore(seeds: 50) { executor in
      let subject = try Subject(kind, on: executor, expiry: Self.minute)
      (subject.cache["a"], subject.cache["bb"]) = (1, 2)
      subject.clock.advance(by: .seconds(61))
      if executor.seed % 2 == 0, kind != .memory { subject.cache.trim(toCost: 0) }
      let left = try await LeftBulkLoad(subject, .init(policy: .freshElseStale, failures: 1))
      let joins = subject.cache.statistics.joins
      let joined = subject.load("a", policy: .freshElseStale) { _ in -1 }
      while subject.cache.statistics.joins == joins { await Task.yield() }
      left.gate.open()
      try #require(try await joined.value == 1)
      try #require(try await left.other.value == 2)
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `a cancelled fetch of several keys leaves their stale values, and does not delay a refresh`(
    kind: SubjectKind
  ) throws {
    try SeededSchedule.explore(seeds: 50) { executor in
      let subject = try Subject(kind, on: executor, expiry: Self.minute)
      (subject.cache["a"], subject.cache["bb"]) = (1, 2)
      subject.clock.advance(by: .seconds(61))
      let left = try await LeftBulkLoad(subject, .init(policy: .freshElseStale, ignoresCancellation: true))
      left.other.cancel()
      try #require(await outcome(left.other) == .cancelled)
      let refreshed = Gate()
      let value = try await subject.value("a", policy: .cachedOrFetch) { _ in
        await refreshed.passUncancelled()
        return 5
      }
      try #require(value == 1)
      await refreshed.arrivals(atLeast: 1)
      refreshed.open()
      left.gate.open()
      while subject.inProgressCount > 0 || left.cancellations.count == 0 { await Task.yield() }
      try #require(subject.cache["a"] == 5 && subject.cache.find("bb")?.value == 2)
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `a fetch that loads its own key without waiters gets an error, and does not count as a waiter`(
    kind: SubjectKind
  ) throws {
    try SeededSchedule.explore(seeds: 50) { executor in
      let subject = try Subject(kind, on: executor)
      let (later, errors) = (Gate(), Recorder<CisternError.Code?>())
      let left = try await LeftBulkLoad(
        subject,
        .init(ending: {
          do { _ = try await subject.value("a") { _ in -1 } } catch { errors.record((error as? CisternError)?.code) }
          try await later.pass()
        }))
      left.gate.open()
      await later.arrivals(atLeast: 1)
      try #require(errors.elements == [.cyclicLoad])
      left.other.cancel()
      try #require(await outcome(left.other) == .cancelled)
      while left.cancellations.count == 0 { await Task.yield() }
      try #require(left.cancellations.elements == [true] && subject.inProgressCount == 0)
      try #require(subject.findings == [])
    }
  }

  @Test func `a key without waiters is stored in memory after its store was closed`() throws {
    try SeededSchedule.explore(seeds: 50) { executor in
      let subject = try Subject(.twoTiers, on: executor)
      let left = try await LeftBulkLoad(subject)
      try await subject.tier?.close()
      let joined = executor.seed % 2 == 0 ? await left.joinA(.plain) : nil
      left.gate.open()
      try #require(try await left.other.value == 200)
      if let joined { try #require(try await joined.value == 100) }
      while subject.inProgressCount > 0 { await Task.yield() }
      try #require(subject.cache["a"] == 100)
    }
  }

  @Test func `bulk loads of two caches with the same keys do not share a fetch`() throws {
    try SeededSchedule.explore(seeds: 50) { executor in
      let first = try LeftSubject(executor)
      let one = try await LeftBulkLoad(first.one, .init(ignoresCancellation: true))
      let two = try await LeftBulkLoad(first.two)
      one.other.cancel()
      _ = await outcome(one.other)
      try #require(first.one.inProgressCount == 0 && first.two.inProgressCount == 2)
      let joined = await two.joinA(.plain)
      two.gate.open()
      try #require(try await joined.value == 100)
      one.gate.open()
      while one.cancellations.count == 0 { await Task.yield() }
      try #require(first.one.cache["a"] == nil && first.two.cache["a"] == 100)
    }
  }

  /// Two caches.
  private struct LeftSubject {
    let one: Subject
    let two: Subject

    init(_ executor: SeededExecutor) throws {
      one = try Subject(.memory, on: executor)
      two = try Subject(.twoTiers, on: executor)
    }
  }
}
