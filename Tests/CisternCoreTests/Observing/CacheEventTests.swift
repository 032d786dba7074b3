import CisternTestSupport
import CisternTesting
import Testing

@testable import CisternCore

/// The events of a cache: failures, timeouts, and changes of the circuit breaker.
@Suite struct CacheEventTests {
  private func text(_ event: CacheEvent<String>) -> String {
    let number = (event.error as? Broken)?.number ?? -1
    return switch event.kind {
    case .fetchFailed: "fetch \(event.key ?? "none") \(number)"
    case .refreshFailed: "refresh \(event.key ?? "none") \(number)"
    case .timedOut: "timeout \(event.key ?? "none")"
    case .circuitChanged: event.circuitChange.map { "\($0.from) to \($0.to)" } ?? "none"
    default: "unknown"
    }
  }

  private func subject(_ executor: SeededExecutor) throws -> Subject {
    var settings = CacheConfiguration<Int>()
    settings.circuitBreaker = CircuitBreaker(opensAfter: .consecutiveFailures(3), openDuration: .seconds(10))
    return try Subject(
      .memory, on: executor, expiry: .after(.seconds(60), graceStale: .seconds(1000)), settings: settings)
  }

  private func fail(_ subject: Subject, _ key: String, _ number: Int) async {
    _ = try? await subject.value(key, policy: .freshElseStale) { _ in throw Broken(number: number) }
  }

  @Test func `every kind of event reaches the sequence and the handler, in order`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try subject(executor)
      let (cache, handled) = (subject.cache, Recorder<String>())
      let token = cache.observeEvents { handled.record(text($0)) }
      var events = cache.events.makeAsyncIterator()
      cache["old"] = 1
      subject.clock.advance(by: .seconds(61))
      await fail(subject, "new", 1)
      await fail(subject, "old", 2)
      _ = try? await subject.value("slow", policy: .cachedOrFetch.timingOut(after: .zero)) { _ in 0 }
      let failed = try await cache.values(forKeys: ["bulk"]) { _ -> [String: Int] in throw Broken(number: 3) }
      try #require(failed.failed.count == 1)
      await fail(subject, "rejected", 4)
      subject.clock.advance(by: .seconds(10))
      try #require(try await subject.value("probe") { _ in 5 } == 5)
      let expected = [
        "fetch new 1", "fetch old 2", "refresh old 2", "timeout slow", "closed to open", "fetch bulk 3",
        "open to halfOpen", "halfOpen to closed",
      ]
      for line in expected {
        let event = await events.next()
        try #require(event.map(text) == line && event?.droppedCount == 0)
      }
      while handled.count < expected.count { await Task.yield() }
      try #require(handled.elements == expected)
      token.cancel()
    }
  }

  @Test func `a failed refresh in the background is one event of each kind`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try subject(executor)
      subject.cache["a"] = 1
      subject.clock.advance(by: .seconds(61))
      var events = subject.cache.events.makeAsyncIterator()
      for _ in 0..<5 { try #require(try await subject.value("a") { _ in throw Broken(number: 8) } == 1) }
      for line in ["fetch a 8", "refresh a 8"] { try #require(await events.next().map(text) == line) }
      while subject.inProgressCount > 0 { await Task.yield() }
      await fail(subject, "end", 9)
      try #require(await events.next().map(text) == "fetch end 9")
    }
  }

  @Test func `a slow consumer gets the newest events, and the number of those that it missed`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Subject(.memory, on: executor)
      let sequence = subject.cache.events(keeping: 3)
      for number in 1...10 { await fail(subject, "k", number) }
      var events = sequence.makeAsyncIterator()
      var later = sequence.makeAsyncIterator()
      let first = await events.next()
      try #require(first.map(text) == "fetch k 8" && first?.droppedCount == 7)
      for number in 9...10 {
        let event = await events.next()
        try #require(event.map(text) == "fetch k \(number)" && event?.droppedCount == 0)
      }
      for number in 11...15 { await fail(subject, "k", number) }
      let next = await events.next()
      try #require(next.map(text) == "fetch k 13" && next?.droppedCount == 2)
      // A further iterator begins when it is created: earlier events are not dropped ones.
      let other = await later.next()
      try #require(other.map(text) == "fetch k 13" && other?.droppedCount == 2)
    }
  }

  @Test func `the sequence ends with its cache and with its task, and an observation with its token`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      var cache: Cache<String, Int>? = try Subject(.memory, on: executor).cache
      let sequence = try #require(cache).events
      let waiting = Task(executorPreference: executor) { [sequence] in
        for await _ in sequence {}
        return true
      }
      let handled = Recorder<Int>()
      do {
        let token = try #require(cache).observeEvents { _ in handled.record(1) }
        token.cancel()
      }
      _ = try? await cache?.value(forKey: "a") { _ in throw Broken() }
      waiting.cancel()
      try #require(await waiting.value)
      cache = nil
      var events = sequence.makeAsyncIterator()
      try #require(await events.next() == nil && handled.count == 0)
    }
  }

  @Test func `events of concurrent failures and state changes are complete and alternate`() throws {
    try SeededSchedule.explore(seeds: 100) { executor in
      let subject = try subject(executor)
      var events = subject.cache.events.makeAsyncIterator()
      let origin = ScriptedOrigin<String, Int> { _, number in .yielding(number % 3, .failure(Broken())) }
      let loads = (0..<12).map { subject.load("\($0 % 6)", fetch: origin.fetch) }
      for load in loads { _ = await outcome(load) }
      while subject.inProgressCount > 0 { await Task.yield() }
      subject.clock.advance(by: .seconds(10))
      _ = try? await subject.value("probe") { _ in throw Broken(number: 99) }
      var (state, failures) = (CircuitBreaker.State.closed, 0)
      while failures < origin.callCount + 1 {
        let event = try #require(await events.next())
        if let change = event.circuitChange {
          try #require(change.from == state && change.to != state && event.kind == .circuitChanged)
          state = change.to
        } else {
          try #require(event.kind == .fetchFailed)
          failures += 1
        }
      }
      try #require(state == .open && subject.cache.statistics.failures == failures)
    }
  }
}
