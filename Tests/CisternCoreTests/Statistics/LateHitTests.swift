import CisternTestSupport
import CisternTesting
import Testing

@testable import CisternCore

/// The counters of loads that get an older value because their fetch fails or takes too long.
struct LateHitTests {
  private let clock = ManualClock()
  private let cache: Cache<String, Int>

  init() throws {
    var configuration: Store.Configuration = .ignoringMemoryPressure
    configuration.clock = clock
    cache = try Cache(costLimit: 10, configuration: configuration)
    cache.setValue(1, forKey: "key", expiry: .after(.seconds(1), graceStale: .seconds(100)))
    clock.advance(by: .seconds(2))
  }

  @Test func `a load whose fetch fails counts once, as a hit`() async throws {
    let value = try await cache.value(forKey: "key", policy: .freshElseStale) { _ in throw Broken() }
    let statistics = cache.statistics
    #expect(value == 1 && statistics.lookUps == 1 && statistics.hitRatio == 1)
    #expect(statistics.memoryHits == 1 && statistics.staleHits == 1 && statistics.misses == 0)
  }

  @Test func `a load whose fetch takes too long counts once, as a hit`() async throws {
    let gate = Gate()
    async let value = cache.value(forKey: "key", policy: .freshElseStale.returningStale(after: .seconds(5))) { _ in
      try await gate.pass()
      return 2
    }
    await gate.arrivals(atLeast: 1)
    while clock.sleeperCount < 1 { await Task.yield() }
    clock.advance(by: .seconds(5))
    #expect(try await value == 1)
    let statistics = cache.statistics
    #expect(statistics.lookUps == 1 && statistics.staleHits == 1 && statistics.misses == 0)
    gate.open()
  }

  @Test func `a fetch that fails after a write of its key counts as a failure, with an event`() async throws {
    let (gate, failures) = (Gate(), Recorder<String>())
    let token = cache.observeEvents { if case .fetchFailed = $0.kind { failures.record($0.key ?? "") } }
    let load = Task {
      try await cache.value(forKey: "other") { _ in
        try await gate.pass()
        throw Broken()
      }
    }
    await gate.arrivals(atLeast: 1)
    cache["other"] = 3
    gate.open()
    await #expect(throws: Broken.self) { try await load.value }
    #expect(cache.statistics.failures == 1 && cache["other"] == 3)
    while failures.count < 1 { await Task.yield() }
    #expect(failures.elements == ["other"])
    token.cancel()
  }

  @Test(arguments: [false, true], [false, true])
  func `a load that gets the value of an edit during its fetch counts once, as a hit`(
    timesOut: Bool, hasOlderValue: Bool
  ) async throws {
    if !hasOlderValue { cache["key"] = nil }
    let (gate, confirmed) = (Gate(), Gate())
    let policy = timesOut ? LoadPolicy.freshElseStale.timingOut(after: .seconds(5)) : .freshElseStale
    let load = Task {
      try await cache.value(forKey: "key", policy: policy) { _ in
        try await gate.pass()
        throw Broken()
      }
    }
    await gate.arrivals(atLeast: 1)
    let edit = Task {
      try await cache.editValue(forKey: "key") {
        ($0 ?? 0) + 10
      } confirmedBy: {
        await confirmed.passUncancelled()
        return nil
      }
    }
    await confirmed.arrivals(atLeast: 1)
    if timesOut {
      while clock.sleeperCount < 1 { await Task.yield() }
      clock.advance(by: .seconds(5))
    }
    let isAnswered = timesOut || hasOlderValue
    if !timesOut { gate.open() }
    let value = try? await load.value
    #expect(value == (isAnswered ? (hasOlderValue ? 11 : 10) : nil))
    let statistics = cache.statistics
    #expect(statistics.lookUps == 1 && statistics.staleHits == 0)
    #expect(statistics.memoryHits == (isAnswered ? 1 : 0) && statistics.misses == (isAnswered ? 0 : 1))
    gate.open()
    confirmed.open()
    _ = try await edit.value
  }
}
