import CisternTestSupport
import CisternTesting
import Testing

@testable import CisternCore

/// The lifetime of a value that was set during a fetch, in a cache that merges.
struct OlderFetchLifetimeTests {
  /// Loads the key with this expiry. Sets it, and calls `body`, during the fetch.
  private static func load(
    _ subject: FieldsSubject, expiry: Expiry, setting set: Expiry?, _ body: () -> Void = {}
  ) async throws -> Fields? {
    let gate = Gate()
    let load = subject.task {
      try await subject.cache.load("k") { _ in
        try await gate.pass()
        return .store(["fetched": 1], expiry: expiry)
      }
    }
    await gate.arrivals(atLeast: 1)
    subject.cache.setValue(["set": 1], forKey: "k", expiry: set)
    body()
    gate.open()
    return try await load.value?.value
  }

  @Test(arguments: FieldsSubject.Kind.allCases)
  func `a fetch whose result is not stored leaves a value that was set during it`(kind: FieldsSubject.Kind) throws {
    try SeededSchedule.explore(seeds: 20) { executor in
      let subject = try FieldsSubject(kind, on: executor)
      try #require(try await Self.load(subject, expiry: .after(.zero), setting: nil) == ["fetched": 1])
      try #require(subject.valuesFromBothTiers("k").allSatisfy { $0 == ["set": 1] })
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases, [Expiry.after(.seconds(5)), .never])
  func `a fetched value that is merged under a set one does not change its lifetime`(
    kind: FieldsSubject.Kind, fetched: Expiry
  ) throws {
    try SeededSchedule.explore(seeds: 20) { executor in
      let subject = try FieldsSubject(kind, on: executor)
      _ = try await Self.load(subject, expiry: fetched, setting: .after(.seconds(100))) {
        subject.clock.advance(by: .seconds(40))
      }
      let merged: Fields = ["set": 1, "fetched": 1]
      subject.clock.advance(by: .seconds(59))
      try #require(subject.valuesFromBothTiers("k").allSatisfy { $0 == merged })
      subject.clock.advance(by: .seconds(1))
      try #require(subject.valuesFromBothTiers("k").allSatisfy { $0 == nil })
      try #require(subject.findings == [])
    }
  }

  @Test func `the rest of a lifetime ends when the lifetime does`() {
    let start = MonotonicTime(nanoseconds: 1_000_000_000_000)
    let expiries: [Expiry] = [
      .never, .after(.seconds(60)), .after(.seconds(60), graceStale: .seconds(30)), .idle(.seconds(50)),
      .after(.seconds(60), staleWhileRevalidate: .seconds(10), staleIfError: .seconds(30)),
      .after(.seconds(60)).refreshedAhead(at: 0.5), .after(.seconds(60), graceStale: .seconds(30)).idle(.seconds(200)),
    ]
    for expiry in expiries {
      let timing = expiry.timing(from: start)
      for seconds: UInt64 in [0, 20, 40, 59, 62, 65, 75, 89] {
        let now = start.advanced(by: seconds * 1_000_000_000)
        guard timing.freshness(at: now) != .gone else { continue }
        let rest = Expiry(remainderOf: timing, at: now).timing(from: now)
        for later: UInt64 in [1, 10, 25, 29, 31, 45, 61, 90] {
          let time = now.advanced(by: later * 1_000_000_000)
          // A use restarts a time to idle, and the writing is one.
          if expiry.idle != 0, later < 50 { continue }
          #expect(
            Self.kind(rest.freshness(at: time)) == Self.kind(timing.freshness(at: time)),
            "\(expiry) after \(seconds) s, \(later) s later")
        }
      }
    }
  }

  /// The freshness without the time since the end of the lifetime, which a rest does not know.
  private static func kind(_ freshness: Freshness) -> String {
    guard case .stale(_, _, let uses) = freshness else { return "\(freshness)" }
    return "stale \(uses.whileRevalidate) \(uses.ifError)"
  }
}
