#if Service
  import Cistern
  import CisternTestSupport
  import CisternTesting
  import Locking
  import Logging
  import ServiceLifecycle
  import ServiceLifecycleTestKit
  import Testing

  @testable import CisternService

  @Suite struct StoreServiceTests {
    private let backEnds = BackEnds()

    @Test func `a graceful shutdown commits the last writes and closes the store`() async throws {
      let scratch = TemporaryDirectory()
      let store = try openStore(scratch)
      let words = try store.cache("words", of: String.self, keyedBy: Int.self)
      let clock = GatedClock()
      try await shutDown(StoreService(store, instruments: backEnds.instruments(clock: clock))) {
        // The first statistics are exported. The next interval does not end.
        await clock.sleepers.arrivals(atLeast: 1)
        for key in 0..<100 { words[key] = "word \(key)" }
      }
      #expect(backEnds.total("cistern.cache.writes", ["cistern.cache.result": "stored"]) == 100)
      await #expect(throws: CisternError.self) { try await store.flush() }
      #expect(backEnds.logs.entries.map(\.message) == ["the store is closed"])

      let reopened = try openStore(scratch)
      let again = try reopened.cache("words", of: String.self, keyedBy: Int.self)
      for key in 0..<100 { #expect(again[key] == "word \(key)") }
      try await reopened.close()
    }

    @Test func `a service group runs the service and ends it`() async throws {
      let store = try Store.inMemory(memoryLimit: .mebibytes(1))
      let service = StoreService(store, instruments: backEnds.instruments())
      let group = ServiceGroup(services: [service], logger: Logger(label: "group") { _ in SwiftLogNoOpLogHandler() })
      let running = Task { try await group.run() }
      while backEnds.gauge("cistern.store.limit") == nil { await Task.yield() }
      await group.triggerGracefulShutdown()
      try await running.value
      #expect(backEnds.logs.entries.map(\.message) == ["the store is closed"])
    }

    @Test func `a cancelled service closes the store, too`() async throws {
      let scratch = TemporaryDirectory()
      let store = try openStore(scratch)
      try store.cache("words", of: String.self, keyedBy: Int.self)[1] = "word"
      let service = StoreService(store, instruments: backEnds.instruments())
      let running = Task { try await service.run() }
      running.cancel()
      try await running.value
      // The service waited for the close, although its task was cancelled.
      #expect(backEnds.logs.entries.map(\.message) == ["the store is closed"])
      await #expect(throws: CisternError.self) { try await store.flush() }
      let reopened = try openStore(scratch)
      #expect(try reopened.cache("words", of: String.self, keyedBy: Int.self)[1] == "word")
      try await reopened.close()
    }

    @Test func `a close that takes longer than the deadline is logged with the work that is left`() async throws {
      let tier = SlowlyClosingTier()
      let clock = GatedClock()
      let store = try Store(secondTier: tier, memoryLimit: .mebibytes(1))
      let words = try store.cache("words", of: String.self, keyedBy: Int.self)
      let service = StoreService(
        store, instruments: backEnds.instruments(clock: clock), closingDeadline: .seconds(3),
        metricsInterval: .seconds(60))
      try await shutDown(service) {
        await clock.sleepers.arrivals(atLeast: 1)
        for key in 0..<5 { words[key] = "word \(key)" }
      } whileClosing: {
        await tier.gate.arrivals(atLeast: 1)
        await clock.sleepers.arrivals(atLeast: 2)
        clock.sleepers.open()
      }
      let record = try #require(backEnds.logs.entries.first)
      #expect(backEnds.logs.entries.count == 1)
      #expect(record.level == .error)
      #expect(record.message == "the store was not closed within its deadline")
      #expect(record.metadata["cistern.store.staged"] == "5")
      // The interval of the metrics, and the deadline.
      #expect(clock.durations == [.seconds(60), .seconds(3)])
      tier.gate.open()
    }

    /// A clock that cannot sleep.
    private struct SleeplessClock: CacheClock {
      struct CannotSleep: Error {}

      func now() -> MonotonicTime { MonotonicTime(nanoseconds: 0) }

      func wallTime() -> WallTime { WallTime(nanosecondsSince1970: 0) }

      func sleep(until deadline: MonotonicTime) async throws { throw CannotSleep() }
    }

    @Test func `a close ends at its deadline although the clock cannot sleep`() async throws {
      let tier = SlowlyClosingTier()
      let store = try Store(secondTier: tier, memoryLimit: .mebibytes(1))
      let service = StoreService(
        store, instruments: backEnds.instruments(clock: SleeplessClock()), closingDeadline: .milliseconds(1))
      try await shutDown(service) {
      } whileClosing: {
        await tier.gate.arrivals(atLeast: 1)
      }
      #expect(backEnds.logs.entries.map(\.message) == ["the store was not closed within its deadline"])
      tier.gate.open()
    }

    /// A clock that goes back by a second with each look.
    private final class BackwardClock: CacheClock {
      private let seconds = Guarded<UInt64>(1_000)

      func now() -> MonotonicTime {
        seconds.withLock { seconds in
          seconds -= 1
          return MonotonicTime(nanoseconds: seconds * 1_000_000_000)
        }
      }

      func wallTime() -> WallTime { WallTime(nanosecondsSince1970: 0) }
    }

    @Test func `a close on a clock that goes back takes no time`() async throws {
      let store = try Store.inMemory(memoryLimit: .mebibytes(1))
      try await shutDown(StoreService(store, instruments: backEnds.instruments(clock: BackwardClock()))) {}
      #expect(backEnds.logs.entries.first?.metadata["cistern.close.milliseconds"] == "0")
    }

    @Test func `writes that the last flush could not commit are logged`() async throws {
      let tier = FaultInjectingTier(commits: .onDemand)
      let store = try Store(secondTier: tier, memoryLimit: .mebibytes(1))
      let words = try store.cache("words", of: String.self, keyedBy: Int.self)
      tier.failCommits(with: CisternError(.noSpace, "the disk is full", location: "store"))
      try await shutDown(StoreService(store, instruments: backEnds.instruments())) {
        words[1] = "word"
      }
      let record = try #require(backEnds.logs.entries.first)
      #expect(record.level == .error)
      #expect(record.metadata["cistern.code"] == "noSpace")
      #expect("\(record.message)".contains("the disk is full"))
    }

    @Test
    func `a failed close is logged with the number of writes that failed during it, and with that of earlier ones`()
      async throws
    {
      let tier = FaultInjectingTier(commits: .onDemand)
      let store = try Store(secondTier: tier, memoryLimit: .mebibytes(1))
      let words = try store.cache("words", of: String.self, keyedBy: Int.self)
      tier.failCommits()
      for key in 0..<50 { words[key] = "lost" }
      await #expect(throws: CisternError.self) { try await store.flush() }
      for key in 0..<50 { words[key] = "written again" }
      try await store.flush()
      tier.failCommits()
      try await shutDown(StoreService(store, instruments: backEnds.instruments())) {
        for key in 0..<3 { words[key] = "lost at the end" }
      }
      let record = try #require(backEnds.logs.entries.first)
      #expect(record.metadata["cistern.store.failed"] == "3")
      #expect(record.metadata["cistern.store.failed_earlier"] == "50")
      #expect(record.metadata["cistern.store.staged"] == "0")
    }

    @Test func `statistics are exported at each interval, and after the close`() async throws {
      let clock = GatedClock()
      let store = try Store.inMemory(memoryLimit: .mebibytes(1))
      let words = try store.cache("words", of: String.self, keyedBy: Int.self)
      words[1] = "word"
      try await shutDown(StoreService(store, instruments: backEnds.instruments(clock: clock))) {
        await clock.sleepers.arrivals(atLeast: 1)
        #expect(backEnds.total("cistern.cache.requests") == 0)
        _ = words[1]
        clock.sleepers.open()
        while backEnds.total("cistern.cache.requests") < 1 { await Task.yield() }
        clock.sleepers.close()
        _ = words[1]
      }
      #expect(backEnds.total("cistern.cache.requests") == 2)
    }

    @Test(arguments: [Duration.zero, .seconds(-1), .nanoseconds(1)])
    func `a service pauses between two exports, however short its interval is`(interval: Duration) async throws {
      let clock = GatedClock()
      let store = try Store.inMemory(memoryLimit: .mebibytes(1))
      let service = StoreService(
        store, instruments: backEnds.instruments(clock: clock), metricsInterval: interval)
      try await shutDown(service) { await clock.sleepers.arrivals(atLeast: 1) }
      #expect(clock.durations.first == .milliseconds(1))
    }

    // MARK: Running a service

    private func openStore(_ scratch: TemporaryDirectory) throws -> Store {
      try Store(directory: scratch.store, memoryLimit: .mebibytes(1), diskLimit: .mebibytes(16))
    }

    /// Runs a service during `work`, and shuts it down gracefully.
    private func shutDown(
      _ service: StoreService, after work: () async throws -> Void,
      whileClosing: () async throws -> Void = {}
    ) async throws {
      try await testGracefulShutdown { trigger in
        try await withThrowingTaskGroup(of: Void.self) { group in
          group.addTask { try await service.run() }
          try await work()
          trigger.triggerGracefulShutdown()
          try await whileClosing()
          try await group.waitForAll()
        }
      }
    }
  }
#endif
