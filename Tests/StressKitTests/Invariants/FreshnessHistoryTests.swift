import Testing

@testable import StressKit

/// Histories written by hand. Times are in nanoseconds, and `late` exceeds the tolerance.
@Suite struct FreshnessHistoryTests {
  private var history = FreshnessHistory<Version>()
  private let value = Version.fetched(1)
  private let lifetime = Lifetime(fresh: 1_000_000_000, grace: 500_000_000)
  private let late = FreshnessHistory<Version>.tolerance + 1

  private mutating func read(at start: UInt64, accepting staleness: UInt64) -> String? {
    history.read(value, from: start, to: start + 10, lifetime: lifetime, accepting: staleness)
  }

  @Test mutating func `a value is valid while it is fresh`() {
    history.note(value, storedBy: 100)
    #expect(read(at: 100 + lifetime.fresh, accepting: 0) == nil)
  }

  @Test mutating func `a stale value is a violation if the read wants a fresh one`() {
    history.note(value, storedBy: 100)
    #expect(read(at: 100 + lifetime.fresh + late, accepting: 0) != nil)
  }

  @Test mutating func `a stale value is valid within its grace`() {
    history.note(value, storedBy: 100)
    #expect(read(at: 100 + lifetime.fresh + late, accepting: .max) == nil)
  }

  @Test mutating func `no read returns a value past its grace`() {
    history.note(value, storedBy: 100)
    #expect(read(at: 100 + lifetime.fresh + lifetime.grace + late, accepting: .max) != nil)
  }

  @Test mutating func `a read that accepts less than the grace gets no staler value`() {
    history.note(value, storedBy: 100)
    #expect(read(at: 100 + lifetime.fresh + 200_000_000 + late, accepting: 200_000_000) != nil)
  }

  @Test mutating func `the first read of a value proves its presence`() {
    #expect(read(at: 5, accepting: 0) == nil)
    #expect(read(at: 15 + lifetime.fresh + late, accepting: 0) != nil)
  }

  @Test mutating func `a value without an expiry is never judged`() {
    history.note(value, storedBy: 1)
    #expect(history.read(value, from: .max - 1, to: .max, lifetime: .forever, accepting: 0) == nil)
  }

  @Test func `the watch reports values that outlived their lifetime`() {
    let violations = ViolationLog()
    let watch = FreshnessWatch(lifetimes: Lifetimes([.forever, lifetime]), violations: violations)
    for key in 0...1 {
      watch.wrote(key, value, by: 1)
      let window = ReadWindow(start: 10 * lifetime.fresh, end: 11 * lifetime.fresh, staleness: .max)
      watch.read(key, name: "k", value, in: window)
    }
    #expect(violations.violations.map(\.rule) == [.outlived])
  }
}
