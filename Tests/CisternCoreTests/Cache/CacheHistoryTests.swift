import CisternCore
import CisternTesting
import CisternTestSupport
import Testing

/// For each key, callers observe the values of a register that may forget, under every schedule. No read of either
/// tier returns a replaced or removed value, despite concurrent evictions, losses, refusals and cancellations.
struct CacheHistoryTests {
  private static let keys = ["a", "b", "c"]

  @Test(arguments: SubjectKind.caches)
  func `no read is stale, and no removed value returns`(kind: SubjectKind) throws {
    try SeededSchedule.explore(seeds: 400) { executor in
      let subject = try Subject(
        kind, on: executor, completesAbandonedFlights: executor.seed % 2 == 0,
        // One seed in three leaves room for two values only.
        memoryLimit: executor.seed % 3 == 0 ? 16 : 1_000)
      let recorder = HistoryRecorder()
      let callers = Self.startCallers(of: subject, recorder, on: executor)
      for caller in callers { await caller.value }
      while subject.inProgressCount > 0 { await Task.yield() }
      Self.readBothTiers(of: subject, recorder)
      try #require(recorder.violations == [])
      try #require(subject.findings == [])
    }
  }

  /// The second tier may commit no write, and may not be readable.
  @Test(arguments: SubjectKind.tiered)
  func `no read is stale and no removed value returns while the second tier refuses writes, fails and recovers`(
    kind: SubjectKind
  ) throws {
    try SeededSchedule.explore(seeds: 400) { executor in
      // Memory has room for all values, for two, or for none.
      let memoryLimit = [1_000, 16, 7][Int(executor.seed % 3)]
      let subject = try Subject(
        kind, on: executor, completesAbandonedFlights: executor.seed % 2 == 0, memoryLimit: memoryLimit)
      let tier = try #require(subject.tier)
      let recorder = HistoryRecorder()
      let callers = Self.startCallers(of: subject, recorder, on: executor)
      let mishaps = Task(executorPreference: executor) {
        var generator = SeededGenerator(seed: ~executor.seed)
        for _ in 0..<8 {
          switch generator.next(below: 4) {
          case 0: tier.setMode(.degraded)
          case 1: tier.setMode(.active)
          case 2: tier.setSizeLimit(generator.next(below: 2) == 0 ? 7 : nil)
          default: tier.setRecordLimit(generator.next(below: 2) == 0 ? 1 : nil)
          }
          await pause(&generator, atMost: 9)
        }
      }
      for caller in callers { await caller.value }
      await mishaps.value
      while subject.inProgressCount > 0 { await Task.yield() }
      tier.setMode(.active)
      Self.readBothTiers(of: subject, recorder)
      try #require(recorder.violations == [])
      try #require(subject.findings == [])
    }
  }

  @Test func `the histories contain enough reads`() throws {
    let reads = try SeededExecutor.run(seed: 5) { executor in
      let subject = try Subject(.twoTiers, on: executor)
      let recorder = HistoryRecorder()
      var generator = SeededGenerator(seed: 5)
      for _ in 0..<200 { await Self.operate(on: subject, recorder, &generator) }
      return recorder.readCount
    }
    #expect(reads > 60)
  }

  /// Starts four tasks, each with eight operations on random keys.
  private static func startCallers(
    of subject: Subject, _ recorder: HistoryRecorder, on executor: SeededExecutor
  ) -> [Task<Void, Never>] {
    (0..<4).map { index in
      Task(executorPreference: executor) {
        var generator = SeededGenerator(seed: executor.seed * 4 + UInt64(index))
        for _ in 0..<8 {
          await operate(on: subject, recorder, &generator)
          await pause(&generator, atMost: 2)
        }
      }
    }
  }

  /// Reads each key twice at the end: from memory if it is there, and then from the tier behind it.
  private static func readBothTiers(of subject: Subject, _ recorder: HistoryRecorder) {
    for key in keys {
      for _ in 0..<2 {
        let called = recorder.tick()
        recorder.record(subject.cache[key].map { .read($0) } ?? .miss, on: key, called: called)
        subject.cache.trim(toCost: 0)
      }
    }
  }

  private static func operate(
    on subject: Subject, _ recorder: HistoryRecorder, _ generator: inout SeededGenerator
  ) async {
    let cache = subject.cache
    let key = keys[generator.next(below: keys.count)]
    let called = recorder.tick()
    switch generator.next(below: 16) {
    case 0, 1:
      let value = recorder.newValue()
      // The value is recorded before the write returns, because others may read it earlier.
      cache[key] = value
      recorder.record(.write(value), on: key, called: called)
    case 2:
      cache[key] = nil
      recorder.record(.removal, on: key, called: called)
    case 3:
      cache.removeAll()
      for key in keys { recorder.record(.removal, on: key, called: called) }
    case 4, 5, 6, 7:
      let load = subject.load(key) { try await recorder.fetch($0, loadCalled: called) }
      if generator.next(below: 4) == 0 {
        await pause(&generator)
        load.cancel()
      }
      if case .value(let value) = await outcome(load) { recorder.record(.read(value), on: key, called: called) }
    case 8:
      cache.trim(toCost: generator.next(below: 3) * 8)
    case 9:
      subject.tier?.commit(1 + generator.next(below: 4))
    case 10:
      subject.tier?.evict(key, from: Subject.partition)
    case 11:
      subject.tier?.damage(key, in: Subject.partition)
    case 12 where generator.next(below: 3) == 0:
      subject.tier?.failCommits()
    default:
      let value = cache[key]
      // A value that cannot be read now may be readable later, so this miss is not recorded.
      if value == nil, let tier = subject.tier, tier.statistics.mode != .active { return }
      recorder.record(value.map { .read($0) } ?? .miss, on: key, called: called)
    }
  }
}
