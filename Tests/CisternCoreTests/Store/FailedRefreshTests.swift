import CisternTesting
import CisternTestSupport
import Testing

@testable import CisternCore

/// A failed fetch whose callers have an older value. The error reaches no caller.
@Suite struct FailedRefreshTests {
  private struct Broken: Error {}

  private func open(_ clock: ManualClock, _ reports: Recorder<StoreReport>) throws -> Cache<String, Int> {
    var configuration: Store.Configuration = .ignoringMemoryPressure
    configuration.clock = clock
    configuration.reportHandler = { reports.record($0) }
    let store = try Store.inMemory(memoryLimit: .mebibytes(1), configuration: configuration)
    return try store.cache(
      "numbers", of: Int.self, keyedBy: String.self, expiry: .after(.seconds(1), graceStale: .seconds(1000)))
  }

  @Test func `a failed background refresh is reported with its key and error`() async throws {
    let (clock, reports) = (ManualClock(), Recorder<StoreReport>())
    let cache = try open(clock, reports)
    cache["k"] = 1
    clock.advance(by: .seconds(2))
    #expect(try await cache.value(forKey: "k") { _ in throw Broken() } == 1)
    while reports.count < 1 { await Task.yield() }
    let report = try #require(reports.elements.first)
    #expect(report.code == .refreshFailed)
    #expect(report.location.contains("k") && report.location.contains("numbers"))
    #expect(report.cause is Broken)
  }

  @Test func `a stale value returned after a failed fetch is also reported`() async throws {
    let (clock, reports) = (ManualClock(), Recorder<StoreReport>())
    let cache = try open(clock, reports)
    cache["k"] = 1
    clock.advance(by: .seconds(2))
    #expect(try await cache.value(forKey: "k", policy: .freshElseStale) { _ in throw Broken() } == 1)
    #expect(reports.elements.map(\.code) == [.refreshFailed])
  }

  @Test func `failures that callers receive are not reported`() async throws {
    let (clock, reports) = (ManualClock(), Recorder<StoreReport>())
    let cache = try open(clock, reports)
    await #expect(throws: Broken.self) { try await cache.value(forKey: "new") { _ in throw Broken() } }
    cache["k"] = 1
    clock.advance(by: .seconds(2))
    await #expect(throws: Broken.self) {
      try await cache.value(forKey: "k", policy: .freshOnly) { _ in throw Broken() }
    }
    await #expect(throws: Broken.self) { try await cache.refreshValue(forKey: "k") { _ in throw Broken() } }
    #expect(reports.count == 0)
  }

  @Test func `many failures give one report in ten seconds, which counts the others`() async throws {
    let (clock, reports) = (ManualClock(), Recorder<StoreReport>())
    let cache = try open(clock, reports)
    for number in 0..<5 { cache["\(number)"] = number }
    clock.advance(by: .seconds(2))
    // The event of a failed refresh follows its report.
    let failures = Recorder<String>()
    let token = cache.observeEvents { if case .refreshFailed = $0.kind { failures.record($0.key ?? "none") } }
    for number in 0..<5 {
      #expect(try await cache.value(forKey: "\(number)") { _ in throw Broken() } == number)
      while failures.count < number + 1 { await Task.yield() }
    }
    token.cancel()
    clock.advance(by: .seconds(10))
    #expect(try await cache.value(forKey: "0", policy: .freshElseStale) { _ in throw Broken() } == 0)
    #expect(reports.count == 2)
    #expect(reports.elements.last?.message.contains("4 other refreshes failed") == true)
  }

  @Test func `a throttled report is omitted, and the next one includes its count`() {
    let throttle = ReportThrottle()
    func admit(_ seconds: UInt64) -> Int? { throttle.admit(at: MonotonicTime(nanoseconds: seconds * 1_000_000_000)) }
    #expect(admit(1) == 0)
    #expect(admit(2) == nil)
    #expect(admit(10) == nil)
    #expect(admit(11) == 2)
    #expect(admit(21) == 0)
  }
}
