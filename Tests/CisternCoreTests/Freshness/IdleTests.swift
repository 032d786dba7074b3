import CisternTesting
import CisternTestSupport
import Testing

@testable import CisternCore

/// A value that is unused for its idle time expires in both tiers. A value in use stays, also across a restart.
@Suite struct IdleTests {
  private static let idle = Expiry.idle(.seconds(100))

  private func stores(_ subject: Subject) -> Int { subject.tier?.statistics.stores ?? 0 }

  @Test func `reads of a value with an idle time write at most once per quarter of that time`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Subject(.twoTiers, on: executor, expiry: Self.idle)
      let changes = Recorder<UInt64>()
      subject.cache["a"] = 1
      let token = subject.cache.observe { changes.record($0.number) }
      for _ in 0..<1_000 { try #require(subject.cache["a"] == 1) }
      subject.clock.advance(by: .seconds(24))
      for _ in 0..<1_000 { try #require(subject.cache["a"] == 1) }
      try #require(stores(subject) == 1)
      subject.clock.advance(by: .seconds(1))
      for _ in 0..<1_000 { try #require(subject.cache["a"] == 1) }
      try #require(stores(subject) == 2)
      subject.clock.advance(by: .seconds(24))
      try #require(try await subject.value("a") { _ in 2 } == 1)
      try #require(stores(subject) == 2)
      for _ in 0..<20 { await Task.yield() }
      try #require(changes.count == 0)
      try #require(subject.findings == [])
      token.cancel()
    }
  }

  @Test func `a look-up that began before any value could expire does not move the last use back`() {
    let hour = MonotonicTime(nanoseconds: 3_600_000_000_000)
    let uses = LastAccess(idle: 60_000_000_000, last: hour, lastOnDisk: hour)
    uses.note(at: MonotonicTime(nanoseconds: 0))
    #expect(uses.end == hour.advanced(by: 60_000_000_000))
    uses.note(at: hour.advanced(by: 1))
    #expect(uses.end == hour.advanced(by: 60_000_000_001))
  }

  @Test func `reads of values without an idle time write nothing`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Subject(.twoTiers, on: executor, expiry: .after(.seconds(1_000), graceStale: .seconds(50)))
      subject.cache["a"] = 1
      for round in 0..<10 {
        subject.clock.advance(by: .seconds(90))
        // Every other read is from the second tier.
        if round.isMultiple(of: 2) { subject.cache.trim(toCost: 0) }
        try #require(try await subject.value("a") { _ in 2 } == 1)
        try #require(subject.cache.withBytes(forKey: "a") { _ in true } == true)
      }
      try #require(stores(subject) == 1)
    }
  }

  /// A way to use a value.
  enum Use: CaseIterable, Sendable {
    case lookUp, load, bulk, bytes, behindMemory, bytesBehindMemory, stale

    func apply(to cache: Cache<String, Int>) async throws {
      switch self {
      case .lookUp: try #require(cache["a"] == 1)
      case .load: try #require(try await cache.value(forKey: "a") { _ in 2 } == 1)
      case .bulk: try #require(try await cache.values(forKeys: ["a"]) { _ in [:] }.values == ["a": 1])
      case .bytes: try #require(cache.withBytes(forKey: "a") { $0.byteCount } == 8)
      case .behindMemory:
        cache.trim(toCost: 0)
        try #require(cache["a"] == 1)
      case .bytesBehindMemory:
        cache.trim(toCost: 0)
        try #require(cache.withBytes(forKey: "a") { $0.byteCount } == 8)
      case .stale: try #require(cache.value(forKey: "a", staleUpTo: .seconds(1_000)) == 1)
      }
    }
  }

  @Test(arguments: Use.allCases, [1_000_000, 7])
  func `a value in use outlives its idle time, also across a restart, and an unused one expires`(
    use: Use, memoryLimit: Int
  ) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Subject(.twoTiers, on: executor, expiry: Self.idle, memoryLimit: memoryLimit)
      subject.cache["a"] = 1
      subject.cache["b"] = 2
      for _ in 0..<8 {
        subject.clock.advance(by: .seconds(30))
        try await use.apply(to: subject.cache)
      }
      try #require(subject.cache["b"] == nil)
      try #require(subject.findings == [])
      // The last use was written, because more than a quarter of the idle time had passed since the one written
      // before.
      let reopened = try subject.reopened(after: true)
      subject.clock.advance(by: .seconds(99))
      try #require(reopened.cache["a"] == 1)
      let late = try reopened.reopened(after: true)
      subject.clock.advance(by: .seconds(100))
      try #require(late.cache["a"] == nil)
      try #require(late.cache["b"] == nil)
    }
  }

  @Test(arguments: SubjectKind.tiered)
  func `idle time counts from the last use of each value, across evictions, writes and restarts`(
    kind: SubjectKind
  ) throws {
    try SeededSchedule.explore(seeds: 200) { executor in
      var generator = SeededGenerator(seed: executor.seed)
      var subject = try Subject(kind, on: executor, expiry: Self.idle)
      let clock = subject.clock
      var lastUses: [String: UInt64] = [:]
      for _ in 0..<60 {
        let key = ["a", "b", "c"][generator.next(below: 3)]
        switch generator.next(below: 10) {
        case 0:
          subject.cache[key] = 1
          lastUses[key] = clock.now().nanoseconds
        case 1, 2, 3: clock.advance(by: .seconds(1 + generator.next(below: 40)))
        case 4: subject.cache.trim(toCost: generator.next(below: 3) * 8)
        case 5: subject.tier?.commit(1 + generator.next(below: 3))
        case 6:
          try await subject.tier?.flush()
          subject = try Subject(kind, on: executor, expiry: Self.idle, tier: subject.tier, clock: clock)
        default:
          let value =
            switch generator.next(below: 3) {
            case 0: subject.cache.withBytes(forKey: key) { _ in 1 }
            case 1: try? await subject.value(key, policy: .cachedOnly) { _ in 2 }
            default: subject.cache[key]
            }
          let now = clock.now().nanoseconds
          let idle = lastUses[key].map { Double(now - $0) / 1_000_000_000 }
          // The known last use may be up to a quarter of the idle time too early, but never too late.
          if value == nil { try #require(idle == nil || idle! >= 75) } else { try #require(idle != nil && idle! < 100) }
          lastUses[key] = value == nil ? nil : now
        }
      }
      try #require(subject.findings == [])
    }
  }

  @Test func `a read of the bytes counts as a use if only memory knows that the value is still in use`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Subject(.twoTiers, on: executor, expiry: Self.idle)
      subject.cache["a"] = 1
      // This use follows too soon after the write to be written.
      subject.clock.advance(by: .seconds(20))
      try #require(subject.cache["a"] == 1)
      for _ in 0..<3 {
        subject.clock.advance(by: .seconds(90))
        try #require(subject.cache.withBytes(forKey: "a") { $0.byteCount } == 8)
      }
      try #require(subject.valuesFromBothTiers("a") == [1, 1])
      try #require(subject.findings == [])
    }
  }

  @Test func `a use also keeps a value that is in grace`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let expiry = Expiry.after(.seconds(10), graceStale: .seconds(10_000)).idle(.seconds(100))
      let subject = try Subject(.twoTiers, on: executor, expiry: expiry)
      subject.cache["a"] = 1
      for _ in 0..<8 {
        subject.clock.advance(by: .seconds(30))
        try #require(subject.cache.value(forKey: "a", staleUpTo: .seconds(1_000)) == 1)
      }
      let reopened = try subject.reopened(after: true)
      subject.clock.advance(by: .seconds(99))
      try #require(reopened.cache.value(forKey: "a", staleUpTo: .seconds(1_000)) == 1)
    }
  }

  enum Interruption: CaseIterable, Sendable {
    case set, removal, clear, trim
  }

  @Test(arguments: Interruption.allCases, [false, true])
  func `a write during the write of a use wins`(interruption: Interruption, isBehindMemory: Bool) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Subject(.twoTiers, on: executor, expiry: Self.idle)
      let cache = subject.cache
      let tier = try #require(subject.tier)
      cache["a"] = 1
      subject.clock.advance(by: .seconds(50))
      if isBehindMemory { cache.trim(toCost: 0) }
      tier.setAfterLoad { _ in
        tier.setAfterLoad(nil)
        switch interruption {
        case .set: cache["a"] = 2
        case .removal: cache["a"] = nil
        case .clear: cache.removeAll()
        case .trim: cache.trim(toCost: 0)
        }
      }
      try #require(cache["a"] == 1)
      let left: Int? =
        switch interruption {
        case .set: 2
        case .removal, .clear: nil
        case .trim: 1
        }
      try #require(subject.valuesFromBothTiers("a") == [left, left])
      try #require(subject.findings == [])
    }
  }

  @Test func `a clock that is set back or forward lengthens no lifetime`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Subject(.twoTiers, on: executor, expiry: Self.idle)
      subject.cache["a"] = 1
      subject.clock.moveWallTime(by: .seconds(-3_600))
      subject.clock.advance(by: .seconds(50))
      try #require(subject.cache["a"] == 1)
      subject.cache.trim(toCost: 0)
      subject.clock.advance(by: .seconds(99))
      try #require(subject.cache["a"] == 1)
      subject.cache.trim(toCost: 0)
      subject.clock.advance(by: .seconds(100))
      try #require(subject.cache["a"] == nil)

      // The clock goes forward. The cache believes it, and a value that was unused for so long expires.
      subject.cache["a"] = 1
      subject.clock.advance(by: .seconds(30))
      try #require(subject.cache["a"] == 1)
      subject.cache.trim(toCost: 0)
      subject.clock.moveWallTime(by: .seconds(7_200))
      try #require(subject.cache["a"] == nil)

      // The clock goes back while the program is not running. A last use in the future cannot be trusted, so the
      // value expires.
      subject.cache["a"] = 1
      subject.clock.advance(by: .seconds(50))
      try #require(subject.cache["a"] == 1)
      subject.clock.moveWallTime(by: .seconds(-10))
      try #require(try subject.reopened(after: true).cache["a"] == nil)
    }
  }

  @Test func `a read-only tier is not written to and keeps its values`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Subject(.twoTiers, on: executor, expiry: Self.idle)
      let tier = try #require(subject.tier)
      subject.cache["a"] = 1
      tier.setMode(.readOnly)
      for _ in 0..<3 {
        subject.clock.advance(by: .seconds(30))
        try #require(subject.cache["a"] == 1)
      }
      try #require(stores(subject) == 1)
      try #require(tier.statistics.refused == 0)
      subject.cache.trim(toCost: 0)
      subject.clock.advance(by: .seconds(5))
      try #require(subject.cache["a"] == 1)
    }
  }
}
