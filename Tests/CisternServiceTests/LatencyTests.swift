#if Service
  import Cistern
  import CisternService
  import CisternTestSupport
  import CisternTesting
  import Testing

  @Suite struct LatencyTests {
    private let backEnds = BackEnds()
    private let clock = ManualClock()

    private func words(_ store: Store) throws -> InstrumentedCache<Int, String> {
      InstrumentedCache(
        try store.cache("words", of: String.self, keyedBy: Int.self), instruments: backEnds.instruments(clock: clock))
    }

    @Test func `a fetch and its load are measured on the clock of the instruments`() async throws {
      let words = try words(Store.inMemory(memoryLimit: .mebibytes(1)))
      _ = try await words.value(forKey: 1) { [clock] _ in
        clock.advance(by: .milliseconds(30))
        return "word"
      }
      #expect(backEnds.latencies("cistern.cache.fetch.duration", result: "success") == [30_000_000])
      #expect(backEnds.latencies("cistern.cache.load.duration", result: "fetched") == [30_000_000])
    }

    @Test func `a hit in memory is not measured`() async throws {
      let words = try words(Store.inMemory(memoryLimit: .mebibytes(1)))
      words.cache[1] = "word"
      _ = try await words.value(forKey: 1) { _ in "fetched" }
      _ = try await words.loadedValue(forKey: 1) { _ in "fetched" }
      let loaded = try await words.load(1) { _ in .store("fetched") }
      #expect(loaded?.value == "word" && loaded?.source == .memory)
      let latencies = backEnds.metrics.timers.flatMap(\.values)
      #expect(latencies.isEmpty)
    }

    @Test func `a hit that is due for a refresh starts it, and the fetch is measured`() async throws {
      var configuration: Store.Configuration = .ignoringMemoryPressure
      configuration.clock = clock
      let store = try Store.inMemory(memoryLimit: .mebibytes(1), configuration: configuration)
      let cache = try store.cache(
        "words", of: String.self, keyedBy: Int.self, expiry: .after(.seconds(10), graceStale: .seconds(60)))
      let words = InstrumentedCache(cache, instruments: backEnds.instruments(clock: clock))
      for load in 0..<2 {
        cache[1] = "old"
        clock.advance(by: .seconds(11))
        let loaded =
          load == 0
          ? try await words.loadedValue(forKey: 1) { _ in "new" } : try await words.load(1) { _ in .store("new") }
        #expect(loaded?.value == "old" && loaded?.isStale == true)
        while cache[1] != "new" { await Task.yield() }
      }
      while backEnds.latencies("cistern.cache.fetch.duration", result: "success").count < 2 { await Task.yield() }
      #expect(backEnds.tracer.finishedSpans.count == 2)
    }

    @Test func `a cancelled task gets no hit, as from the cache`() async throws {
      let words = try words(Store.inMemory(memoryLimit: .mebibytes(1)))
      words.cache[1] = "word"
      let task = Task {
        while !Task.isCancelled { await Task.yield() }
        return try await words.load(1) { _ in .store("fetched") }
      }
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func `a failed fetch has its own result`() async throws {
      let words = try words(Store.inMemory(memoryLimit: .mebibytes(1)))
      await #expect(throws: OriginError.self) {
        try await words.value(forKey: 1) { [clock] _ in
          clock.advance(by: .seconds(2))
          throw OriginError()
        }
      }
      #expect(backEnds.latencies("cistern.cache.fetch.duration", result: "failure") == [2_000_000_000])
      #expect(backEnds.latencies("cistern.cache.load.duration", result: "failure") == [2_000_000_000])
    }

    @Test func `a hit in the second tier is a result of its own`() async throws {
      let tier = FaultInjectingTier()
      let store = try Store(secondTier: tier, memoryLimit: .mebibytes(1))
      let words = try words(store)
      words.cache[1] = "word"
      tier.commit()
      store.trimMemory(to: .bytes(0))
      let word = try await words.value(forKey: 1) { _ in "fetched" }
      #expect(word == "word")
      #expect(backEnds.latencies("cistern.cache.load.duration", result: "disk") == [0])
      #expect(backEnds.latencies("cistern.cache.fetch.duration", result: "success").isEmpty)
      #expect(backEnds.tracer.finishedSpans.isEmpty)
    }

    @Test func `a load that finds that the origin has no value counts as fetched`() async throws {
      let words = try words(Store.inMemory(memoryLimit: .mebibytes(1)))
      let loaded = try await words.load(1) { _ in .absent() }
      #expect(loaded == nil)
      #expect(backEnds.latencies("cistern.cache.load.duration", result: "fetched").count == 1)
    }
  }
#endif
