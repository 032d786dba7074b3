import CisternCore
import CisternTestSupport
import CisternTesting
import Testing

/// The timeouts of bulk loads: each key has the outcome that its own flight brought in time.
struct BulkTimeoutTests {
  private static let keys = (0..<6).map { "k\($0)" }

  /// The end of a key's flight, in time or not.
  enum End: CaseIterable, Sendable { case value, early, error, late }

  private static func end(of key: String, seed: UInt64) -> End {
    let number = UInt64(key.dropFirst())!
    return End.allCases[Int((seed / (number + 1) + number) % 4)]
  }

  @Test(arguments: SubjectKind.caches, [true, false])
  func `a key whose flight ends in time is not timed out because another one is`(
    kind: SubjectKind, isWithContexts: Bool
  ) throws {
    try SeededSchedule.explore(seeds: 100) { executor in
      let subject = try Subject(kind, on: executor)
      let (cache, seed) = (subject.cache, executor.seed)
      let (inTime, late) = (Gate(), Gate())
      let led = Self.keys.map { key in
        Task(executorPreference: executor) {
          try await cache.load(key) { context in
            try await inTime.pass()
            switch Self.end(of: key, seed: seed) {
            case .value: return .store(1)
            case .error: throw Broken()
            case .early: context.announce(2)
            case .late: break
            }
            try await late.pass()
            return .store(3)
          }
        }
      }
      await inTime.arrivals(atLeast: Self.keys.count)
      let policy = LoadPolicy.cachedOrFetch.timingOut(after: .seconds(10))
      let bulk = Task(executorPreference: executor) {
        isWithContexts
          ? try await cache.load(keys: Self.keys, policy: policy) { _ in [:] }
          : try await cache.values(forKeys: Self.keys, policy: policy) { _ in [:] }
      }
      while cache.statistics.joins < Self.keys.count { await Task.yield() }
      while subject.clock.sleeperCount == 0 { await Task.yield() }
      subject.clock.advance(by: .seconds(9))
      inTime.open()
      let continuing = Self.keys.count { [.early, .late].contains(Self.end(of: $0, seed: seed)) }
      await late.arrivals(atLeast: continuing)
      while cache.statistics.inProgressCount > continuing { await Task.yield() }
      subject.clock.advance(by: .seconds(1))
      let result = try await bulk.value
      late.open()
      for key in Self.keys {
        switch Self.end(of: key, seed: seed) {
        case .value: try #require(result[key] == 1)
        case .early: try #require(result[key] == 2)
        case .error: try #require(result.failures[key] is Broken)
        case .late: try #require((result.failures[key] as? CisternError)?.code == .timedOut)
        }
      }
      for task in led { _ = try? await task.value }
      while cache.statistics.inProgressCount > 0 { await Task.yield() }
      try #require(cache.statistics.timeouts == Self.keys.count { Self.end(of: $0, seed: seed) == .late })
      try #require(subject.clock.sleeperCount == 0)
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `at a soft timeout each key has its new value if that came in time, and its older one otherwise`(
    kind: SubjectKind
  ) throws {
    try SeededSchedule.explore(seeds: 60) { executor in
      let subject = try Subject(kind, on: executor, expiry: .minute)
      let (cache, seed) = (subject.cache, executor.seed)
      for key in Self.keys { cache[key] = -1 }
      subject.clock.advance(by: .seconds(61))
      let (inTime, late) = (Gate(), Gate())
      let led = Self.keys.map { key in
        subject.load(key, policy: .freshOnly) { key in
          try await inTime.pass()
          if Self.end(of: key, seed: seed) != .value { try await late.pass() }
          return 1
        }
      }
      await inTime.arrivals(atLeast: Self.keys.count)
      let policy = LoadPolicy.freshElseStale.returningStale(after: .seconds(5))
      let bulk = Task(executorPreference: executor) {
        try await cache.values(forKeys: Self.keys, policy: policy) { _ in [:] }
      }
      while subject.clock.sleeperCount == 0 { await Task.yield() }
      inTime.open()
      for (key, task) in zip(Self.keys, led) where Self.end(of: key, seed: seed) == .value { _ = try await task.value }
      subject.clock.advance(by: .seconds(5))
      let result = try await bulk.value
      for key in Self.keys { try #require(result[key] == (Self.end(of: key, seed: seed) == .value ? 1 : -1)) }
      late.open()
      for task in led { _ = try await task.value }
      try #require(subject.clock.sleeperCount == 0 && subject.findings == [])
    }
  }
}
