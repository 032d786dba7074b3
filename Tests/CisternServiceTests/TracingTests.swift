#if Service
  import Cistern
  import CisternTestSupport
  import CisternTesting
  import InMemoryTracing
  import Testing
  import Tracing

  @testable import CisternService

  @Suite struct TracingTests {
    private let backEnds = BackEnds()
    private let words: InstrumentedCache<Int, String>

    init() throws {
      words = InstrumentedCache(
        try Store.inMemory(memoryLimit: .mebibytes(1)).cache("words", of: String.self, keyedBy: Int.self),
        instruments: backEnds.instruments())
    }

    @Test func `the span of a fetch is a child of the caller's span`() async throws {
      let request = backEnds.tracer.startSpan("request", context: .topLevel)
      let word = try await ServiceContext.$current.withValue(request.context) {
        try await words.value(forKey: 1) { [tracer = backEnds.tracer] key in
          tracer.startSpan("client", context: .current ?? .topLevel).end()
          return "word \(key)"
        }
      }
      request.end()
      #expect(word == "word 1")
      let fetch = try #require(backEnds.spans("cache.fetch").first)
      #expect(fetch.parentSpanID == request.spanID)
      #expect(fetch.attributes.get("cistern.cache.name") == .string("words"))
      #expect(fetch.attributes.get("cistern.cache.key") == nil)
      #expect(fetch.status == nil && fetch.errors.isEmpty)
      // The fetch's own requests are children of its span.
      #expect(backEnds.spans("client").first?.parentSpanID == fetch.spanID)
    }

    @Test func `a hit has no span`() async throws {
      words.cache[1] = "word"
      let word = try await words.value(forKey: 1) { _ in "fetched" }
      #expect(word == "word")
      #expect(try await words.loadedValue(forKey: 1) { _ in "fetched" }.source == .memory)
      #expect(backEnds.tracer.finishedSpans.isEmpty && backEnds.tracer.activeSpans.isEmpty)
    }

    @Test func `callers that join link to the fetch, in their own traces`() async throws {
      let gate = Gate()
      let leader = load(1, in: "leader", at: gate)
      await gate.arrivals(atLeast: 1)
      let joiners = (0..<3).map { load(1, in: "joiner \($0)", at: gate) }
      while words.cache.statistics.waiterCount < 4 { await Task.yield() }
      gate.open()
      for task in [leader] + joiners { #expect(try await task.value == "word 1") }

      let fetches = backEnds.spans("cache.fetch")
      let fetch = try #require(fetches.first)
      #expect(fetches.count == 1)
      let joins = backEnds.spans("cache.join")
      #expect(joins.count == 3)
      for join in joins {
        #expect(backEnds.links(of: join) == [fetch.spanID])
        #expect(join.traceID != fetch.traceID)
      }
      #expect(Set(joins.compactMap(\.parentSpanID)) == Set((0..<3).compactMap { parents("joiner \($0)").first }))
      // The flight's task releases its tracer after it has resumed the waiters.
      while words.instrumentation.records.count > 0 { await Task.yield() }
    }

    @Test func `a fetch that fails marks its span and those of the callers that joined`() async throws {
      let gate = Gate()
      let fetch: @Sendable (Int) async throws -> String = { _ in
        try await gate.pass()
        throw OriginError()
      }
      let words = words
      let tasks = [
        Task { try await words.value(forKey: 1, fetch: fetch) },
        Task { try await words.value(forKey: 1, fetch: fetch) },
      ]
      while words.cache.statistics.waiterCount < 2 { await Task.yield() }
      await gate.arrivals(atLeast: 1)
      gate.open()
      for task in tasks { await #expect(throws: OriginError.self) { try await task.value } }
      let span = try #require(backEnds.spans("cache.fetch").first)
      let join = try #require(backEnds.spans("cache.join").first)
      for span in [span, join] {
        #expect(span.status?.code == .error)
        #expect(span.attributes.get("error.type") == .string("OriginError"))
      }
      #expect(backEnds.links(of: join) == [span.spanID])
      #expect(backEnds.spans("cache.fetch").count == 1 && backEnds.spans("cache.join").count == 1)
    }

    @Test func `a caller that led a later fetch does not link to the earlier one`() async throws {
      for round in 0..<3 {
        words.cache[1] = nil
        _ = try await words.value(forKey: 1) { _ in "round \(round)" }
      }
      #expect(backEnds.spans("cache.fetch").count == 3)
      #expect(backEnds.spans("cache.join").isEmpty)
      // The flight's task releases its tracer after it has resumed the waiters.
      while words.instrumentation.records.count > 0 { await Task.yield() }
    }

    @Test func `each attempt of a fetch has a span, and joins link to the last one`() async throws {
      let store = try Store.inMemory(memoryLimit: .mebibytes(1))
      var configuration = CacheConfiguration<String>()
      configuration.retry = RetryPolicy(attempts: 2, initialDelay: .zero)
      let words = InstrumentedCache(
        try store.cache("words", of: String.self, keyedBy: Int.self, configuration: configuration),
        instruments: backEnds.instruments())
      let (first, second) = (Gate(), Gate())
      let fetch: @Sendable (FetchContext<Int, String>) async throws -> FetchOutcome<String> = { context in
        if context.attempt == 1 {
          try await first.pass()
          throw OriginError()
        }
        try await second.pass()
        return .store("word")
      }
      let leader = Task { try await words.load(1, fetch: fetch) }
      await first.arrivals(atLeast: 1)
      let joiner = Task { try await words.load(1, fetch: fetch) }
      while words.cache.statistics.waiterCount < 2 { await Task.yield() }
      first.open()
      await second.arrivals(atLeast: 1)
      second.open()
      _ = try await (leader.value, joiner.value)
      let fetches = backEnds.spans("cache.fetch")
      #expect(fetches.count == 2)
      #expect(fetches.map { $0.status?.code } == [.error, nil])
      #expect(backEnds.spans("cache.join").map(backEnds.links) == [[fetches[1].spanID]])
    }

    @Test func `a refresh in the background has its span in the trace of the caller that began it`() async throws {
      let clock = ManualClock()
      var configuration: Store.Configuration = .ignoringMemoryPressure
      configuration.clock = clock
      let store = try Store.inMemory(memoryLimit: .mebibytes(1), configuration: configuration)
      let words = InstrumentedCache(
        try store.cache(
          "words", of: String.self, keyedBy: Int.self, expiry: .after(.seconds(1), graceStale: .seconds(60))),
        instruments: backEnds.instruments(clock: clock))
      words.cache[1] = "old"
      clock.advance(by: .seconds(2))
      let request = backEnds.tracer.startSpan("request", context: .topLevel)
      let gate = Gate()
      let word = try await ServiceContext.$current.withValue(request.context) {
        try await words.value(forKey: 1) { _ in
          try await gate.pass()
          return "new"
        }
      }
      request.end()
      #expect(word == "old")
      gate.open()
      while words.cache[1] != "new" { await Task.yield() }
      while backEnds.spans("cache.fetch").isEmpty { await Task.yield() }
      #expect(backEnds.spans("cache.fetch").first?.parentSpanID == request.spanID)
      #expect(backEnds.spans("cache.join").isEmpty)
    }

    @Test func `keys are in spans only if that was asked for`() async throws {
      let words = InstrumentedCache(
        try Store.inMemory(memoryLimit: .mebibytes(1)).cache("words", of: String.self, keyedBy: Int.self),
        instruments: backEnds.instruments(includesKeys: true))
      _ = try await words.value(forKey: 7) { _ in "word" }
      #expect(backEnds.spans("cache.fetch").first?.attributes.get("cistern.cache.key") == .string("7"))
    }

    // MARK: Loads in a trace of their own

    private func load(_ key: Int, in trace: String, at gate: Gate) -> Task<String, any Error> {
      let (words, tracer) = (words, backEnds.tracer)
      return Task {
        let request = tracer.startSpan(trace, context: .topLevel)
        defer { request.end() }
        return try await ServiceContext.$current.withValue(request.context) {
          try await words.value(forKey: key) { key in
            try await gate.pass()
            return "word \(key)"
          }
        }
      }
    }

    private func parents(_ name: String) -> [String] { backEnds.spans(name).map(\.spanID) }
  }
#endif
