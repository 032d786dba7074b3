#if Service
  import Cistern
  import CisternTestSupport
  import CisternTesting
  import InMemoryLogging
  import Logging
  import Testing

  @testable import CisternService

  @Suite struct LoggingTests {
    private let backEnds = BackEnds()
    private let clock = ManualClock()

    @Test(arguments: [false, true])
    func `a report becomes a record with metadata, and an earlier handler still receives it`(includesKeys: Bool) {
      let received = Recorder<String>()
      var configuration: Store.Configuration = .ignoringMemoryPressure
      configuration.reportHandler = { received.record($0.message) }
      let logger = Logger(label: "test") { [logs = backEnds.logs] _ in logs }
      configuration.logReports(to: logger, includesKeys: includesKeys)
      var report = StoreReport(
        .damagedRecord, "a record is damaged", location: "cache \"words\", key 7", cause: OriginError())
      report.cacheName = "words"
      configuration.reportHandler?(report)
      #expect(received.elements == ["a record is damaged"])
      #expect(
        backEnds.logs.entries == [
          InMemoryLogHandler.Entry(
            level: .warning, message: "a record is damaged",
            metadata: [
              "cistern.code": "damagedRecord",
              "cistern.location": "cache \"words\"\(includesKeys ? ", key 7" : "")",
              "cistern.cache.name": "words",
              "cistern.cause": "the origin is down", "error.type": "OriginError",
            ])
        ])
    }

    @Test(arguments: [
      (StoreReport.Code.degraded, Logger.Level.error), (.setAside, .error), (.rolledBack, .error),
      (.deviceFull, .error),
      (.filesReplaced, .error), (.recovered, .notice), (.refreshFailed, .warning), (.longReader, .warning),
    ])
    func `reports for an operator are errors`(code: StoreReport.Code, level: Logger.Level) {
      #expect(StoreReport(code, "message", location: "store").level == level)
    }

    @Test(arguments: ["words", "a \"quoted\" name", nil])
    func `a report about a cache names it`(name: String?) {
      var report = StoreReport(.refused, "message", location: "cache \"other\"")
      report.cacheName = name
      let metadata = report.metadata
      #expect(metadata["cistern.cache.name"] == name.map { "\($0)" })
      #expect(metadata["cistern.cause"] == nil)
    }

    @Test(arguments: [false, true])
    func `an error of the library is logged with its key only if that was asked for`(includesKeys: Bool) async throws {
      let words = try cache(includesKeys: includesKeys)
      await #expect(throws: CisternError.self) {
        _ = try await words.load(7) { _ in .keepStored() }
      }
      let record = try #require(try await records(1).first)
      #expect(record.metadata["error.type"] == "CisternError")
      #expect("\(record.metadata["cistern.cause"] ?? "")".contains("key 7") == includesKeys)
      let cause = CisternError(.noValue, "message", location: "a cache, key 7")
      let report = StoreReport(
        .refreshFailed, "message", location: "cache \"words\", key 7",
        cause: CisternError(.diskFailed, "message", location: "a cache", cause: cause))
      #expect("\(report.metadata(includesKeys: includesKeys))".contains("key 7") == includesKeys)
    }

    @Test(arguments: [false, true], [false, true])
    func `the keys of a conflict that a fetch throws are logged only if that was asked for`(
      includesKeys: Bool, throwsCause: Bool
    ) async throws {
      let words = try cache(includesKeys: includesKeys)
      let other = try Store.inMemory(memoryLimit: .mebibytes(1)).cache("other", of: String.self, keyedBy: Int.self)
      await #expect(throws: (any Error).self) {
        _ = try await words.value(forKey: 7) { _ in
          let draft = other.draft()
          draft[1001] = "draft"
          other[1001] = "cache"
          do {
            try draft.save()
          } catch {
            if throwsCause, let cause = (error as? CisternError)?.cause { throw cause }
            throw error
          }
          return ""
        }
      }
      let record = try #require(try await records(1).first)
      let cause = "\(record.metadata["cistern.cause"] ?? "")"
      #expect(cause.contains("1001") == includesKeys, "\(cause)")
      #expect(cause.contains("1 conflicting key") != includesKeys, "\(cause)")
    }

    @Test func `the failures of a cache give one record in ten seconds, with the number of the others`() async throws {
      let store = try Store.inMemory(memoryLimit: .mebibytes(1))
      let words = try store.cache("words", of: String.self, keyedBy: Int.self)
      var events = words.events.makeAsyncIterator()
      let log = EventLog<Int>(cacheName: "words", instruments: backEnds.instruments(clock: clock))
      func fail() async throws {
        await #expect(throws: OriginError.self) { try await words.value(forKey: 1) { _ in throw OriginError() } }
        log.add(try #require(await events.next()))
      }
      for _ in 0..<5 { try await fail() }
      #expect(backEnds.logs.entries.map(\.message) == ["a fetch failed"])
      clock.advance(by: .seconds(11))
      try await fail()
      #expect(backEnds.logs.entries.count == 2)
      let record = try #require(backEnds.logs.entries.last)
      #expect(record.level == .warning)
      #expect(record.metadata["cistern.others"] == "4")
      #expect(record.metadata["cistern.cache.name"] == "words")
      #expect(record.metadata["cistern.cause"] == "the origin is down")
      #expect(record.metadata["error.type"] == "OriginError")
      #expect(record.metadata["cistern.cache.key"] == nil)
    }

    @Test func `an opened circuit breaker is logged as an error`() async throws {
      var configuration = CacheConfiguration<String>()
      configuration.circuitBreaker = CircuitBreaker(opensAfter: .consecutiveFailures(1))
      let words = try cache(configuration, includesKeys: true)
      await fail(words)
      let entries = try await records(2)
      let record = try #require(entries.first { $0.level == .error })
      #expect(record.message == "the circuit breaker changed its state")
      #expect(record.metadata["cistern.circuit.from"] == "closed" && record.metadata["cistern.circuit.to"] == "open")
      #expect(entries.first { $0.level == .warning }?.metadata["cistern.cache.key"] == "1")
    }

    // MARK: A cache that fails

    private func cache(
      _ configuration: CacheConfiguration<String> = CacheConfiguration(), includesKeys: Bool = false
    ) throws -> InstrumentedCache<Int, String> {
      var settings: Store.Configuration = .ignoringMemoryPressure
      settings.clock = clock
      let store = try Store.inMemory(memoryLimit: .mebibytes(1), configuration: settings)
      return InstrumentedCache(
        try store.cache("words", of: String.self, keyedBy: Int.self, configuration: configuration),
        instruments: backEnds.instruments(clock: clock, includesKeys: includesKeys))
    }

    private func fail(_ words: InstrumentedCache<Int, String>) async {
      await #expect(throws: OriginError.self) { try await words.value(forKey: 1) { _ in throw OriginError() } }
    }

    /// Waits for a number of records: events reach their handler on another thread.
    private func records(_ count: Int) async throws -> [InMemoryLogHandler.Entry] {
      while backEnds.logs.entries.count < count { await Task.yield() }
      return backEnds.logs.entries
    }
  }
#endif
