import CisternCore
import CisternTesting
import CisternTestSupport
import Testing

/// Applies random operations sequentially to a cache and to a dictionary as its model.
struct CacheModelTests {
  private static let keys =
    (0..<12).map { "key \($0)" } + ["", "é\u{0}\u{10FFFF}", String(repeating: "long ", count: 300)]

  /// The conditions under which a cache may forget values.
  enum Setting: CaseIterable, Sendable {
    /// The cache has enough space and forgets nothing.
    case roomy
    /// Memory holds few values, and a second tier holds all of them.
    case tight
    /// Both tiers may forget values.
    case lossy
  }

  @Test(arguments: SubjectKind.caches, Setting.allCases)
  func `a cache returns the values of a dictionary, except those that it may forget`(
    kind: SubjectKind, setting: Setting
  ) throws {
    try SeededSchedule.explore(seeds: 60) { executor in
      let memoryLimit = setting == .roomy ? 1_000_000 : 40
      var subject = try Subject(kind, on: executor, memoryLimit: memoryLimit)
      var model = CacheModel()
      var generator = SeededGenerator(seed: executor.seed)
      let mayForget = setting == .lossy || (setting == .tight && kind == .memory)
      for step in 0..<150 {
        let key = Self.keys[generator.next(below: Self.keys.count)]
        switch generator.next(below: 20) {
        case 0...4:
          let lifetime = generator.next(below: 3) == 0 ? UInt64(1 + generator.next(below: 50)) : nil
          let expiry = lifetime.map { Expiry.after(.nanoseconds($0)) }
          subject.cache.setValue(step, forKey: key, expiry: expiry)
          model.set(key, step, lifetime: lifetime)
        case 5:
          subject.cache.setValue(step, forKey: key, expiry: .after(.zero))
          model.remove(key)
        case 6:
          subject.cache[key] = nil
          model.remove(key)
        case 7 where generator.next(below: 4) == 0:
          subject.cache.removeAll()
          model.removeAll()
        case 8, 9, 10:
          let value = try await subject.value(key) { _ in step }
          if let expected = model[key] {
            try #require(value == expected || (mayForget && value == step))
          } else {
            try #require(value == step)
          }
          if value == step { model.set(key, step, lifetime: nil) }
        case 11:
          let time = 1 + generator.next(below: 10)
          subject.clock.advance(by: .nanoseconds(time))
          model.advance(by: UInt64(time))
        case 12 where kind != .memory || mayForget: subject.cache.trim(toCost: generator.next(below: 100))
        case 13: subject.tier?.commit(1 + generator.next(below: 5))
        case 14 where setting == .lossy:
          subject.tier?.evict(key, from: Subject.partition)
          for _ in 0..<2 { await Task.yield() }
        case 15 where setting == .lossy && generator.next(below: 3) == 0:
          subject.tier?.failCommits()
        case 16 where kind != .memory && generator.next(below: 5) == 0:
          // The store closes, and its directory stays.
          try await Self.flush(subject)
          subject = try subject.reopened()
        default:
          let expected = model[key]
          let contains = subject.cache.contains(key)
          let value = subject.cache[key]
          try #require(value == expected || (mayForget && value == nil), "step \(step), \(key)")
          try #require(contains == (value != nil))
        }
        try #require(subject.cache.statistics.memory.cost <= memoryLimit)
        if step % 10 == 0 { try #require(subject.findings == []) }
      }
      try #require(subject.findings == [])
    }
  }

  /// Flushes, and accepts the failure that the test may have injected.
  private static func flush(_ subject: Subject) async throws {
    do { try await subject.tier?.flush() } catch { try #require(error.code == .noSpace) }
  }
}
