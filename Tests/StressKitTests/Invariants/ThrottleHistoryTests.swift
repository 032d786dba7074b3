import Testing

@testable import StressKit

/// Histories written by hand, in milliseconds.
@Suite struct ThrottleHistoryTests {
  private static let millisecond: UInt64 = 1_000_000
  private var history = ThrottleHistory(interval: 100 * millisecond, lifetime: .seconds(0.05, grace: 10))

  private mutating func failedAfterSuccess() {
    history.fetched(startedAt: 1 * Self.millisecond, after: 0)
    history.failed(at: 200 * Self.millisecond, after: 0)
  }

  private func begins(at time: UInt64, acceptsStale: Bool = true) -> String? {
    history.begins(at: time * Self.millisecond, acceptsStale: acceptsStale)
  }

  @Test mutating func `a failed origin is not called again within the interval`() {
    failedAfterSuccess()
    #expect(begins(at: 210) != nil)
    #expect(begins(at: 270) != nil)
  }

  @Test mutating func `after the interval, the origin may be called`() {
    failedAfterSuccess()
    #expect(begins(at: 301) == nil)
  }

  @Test mutating func `a load that wants a fresh value may call the origin immediately`() {
    failedAfterSuccess()
    #expect(begins(at: 210, acceptsStale: false) == nil)
  }

  @Test mutating func `without a value in grace, the origin may be called immediately`() {
    history.failed(at: 200 * Self.millisecond, after: 0)
    #expect(begins(at: 210) == nil)
    history.fetched(startedAt: 300 * Self.millisecond, after: 0)
    history.failed(at: 10_400 * Self.millisecond, after: 0)
    #expect(begins(at: 10_410) == nil)
  }

  @Test mutating func `a write ends the interval and invalidates earlier fetches`() {
    failedAfterSuccess()
    history.written()
    #expect(begins(at: 210) == nil)
    history.fetched(startedAt: 215 * Self.millisecond, after: 0)
    history.failed(at: 220 * Self.millisecond, after: 0)
    #expect(begins(at: 230) == nil)
  }

  @Test mutating func `a success ends the interval`() {
    failedAfterSuccess()
    history.fetched(startedAt: 205 * Self.millisecond, after: 0)
    #expect(begins(at: 210) == nil)
  }

  @Test func `more concurrent fetches than the limit are a violation`() async {
    let violations = ViolationLog()
    let load = OriginLoad(limit: 1, violations: violations)
    await load.run {}
    await load.run {}
    #expect(violations.count == 0)
    await load.run { await load.run {} }
    #expect(violations.violations.map(\.rule) == [.overLimit])
    #expect(load.peak == 2)
  }
}
