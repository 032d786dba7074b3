import CisternCore
import CisternTestSupport
import CisternTesting
import Testing

/// Records that are written while the time of day is set forward, after it is set back.
struct SetClockTests {
  /// The time by which the clock is set forward.
  static let shift = Duration.seconds(10)

  @Test(
    arguments: SubjectKind.tiered,
    [Expiry.after(.seconds(100)), .after(.seconds(60), graceStale: .seconds(40)), .idle(.seconds(100))])
  func `a record that was written while the clock was set forward is not lost when the clock is set back`(
    kind: SubjectKind, expiry: Expiry
  ) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Subject(kind, on: executor, expiry: expiry)
      subject.clock.moveWallTime(by: Self.shift)
      subject.cache["a"] = 1
      try await subject.tier?.flush()
      subject.clock.moveWallTime(by: .zero - Self.shift)
      subject.cache.trim(toCost: 0)
      try #require(subject.cache.contains("a"))
      try #require(try await subject.cache.keyCount() == 1)
      try #require(subject.cache["a"] == 1)
      try #require(subject.cache.statistics.expirations == 0)
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.tiered)
  func `a clock that is set forward and back lengthens a lifetime by the shift at most`(kind: SubjectKind) throws {
    for lifetime in [5, 100] {
      try SeededExecutor.run(seed: 0) { executor in
        let subject = try Subject(kind, on: executor, expiry: .after(.seconds(lifetime)))
        subject.clock.moveWallTime(by: Self.shift)
        subject.cache["a"] = 1
        try await subject.tier?.flush()
        subject.clock.moveWallTime(by: .zero - Self.shift)
        subject.cache.trim(toCost: 0)
        try #require(subject.cache.find("a")?.remainingLifetime == .seconds(lifetime))
        for _ in 0..<lifetime + 9 {
          subject.cache.trim(toCost: 0)
          subject.clock.advance(by: .seconds(1))
          try #require(subject.cache["a"] == 1)
        }
        subject.clock.advance(by: .seconds(1))
        try #require(subject.cache["a"] == nil)
        try #require(subject.findings == [])
      }
    }
  }

  @Test(arguments: SubjectKind.tiered)
  func `a value that was used while the clock was set forward is not lost when the clock is set back`(
    kind: SubjectKind
  ) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Subject(kind, on: executor, expiry: .after(.seconds(200)).idle(.seconds(100)))
      subject.cache["a"] = 1
      subject.clock.advance(by: .seconds(30))
      subject.clock.moveWallTime(by: Self.shift)
      // The disk records this use.
      try #require(subject.cache["a"] == 1)
      try await subject.tier?.flush()
      subject.clock.moveWallTime(by: .zero - Self.shift)
      subject.cache.trim(toCost: 0)
      try #require(subject.cache["a"] == 1)
      subject.clock.advance(by: .seconds(99))
      subject.cache.trim(toCost: 0)
      try #require(subject.cache["a"] == 1)
    }
  }

  @Test(arguments: SubjectKind.tiered)
  func `a later opening takes a record with a write time in the future for expired, also after writes of its own`(
    kind: SubjectKind
  ) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Subject(kind, on: executor, expiry: .after(.seconds(100)))
      subject.clock.moveWallTime(by: Self.shift)
      subject.cache["a"] = 1
      try await subject.tier?.flush()
      subject.clock.moveWallTime(by: .zero - Self.shift)
      let reopened = try subject.reopened(after: true)
      reopened.cache.setValue(2, forKey: "b", expiry: .after(.seconds(100)))
      try #require(reopened.cache["a"] == nil)
      try #require(reopened.valuesFromBothTiers("b") == [2, 2])
    }
  }
}
