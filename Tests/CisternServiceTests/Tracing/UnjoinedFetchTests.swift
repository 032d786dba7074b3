#if Service
  import Cistern
  import CisternTestSupport
  import CisternTesting
  import InMemoryTracing
  import Testing

  @testable import CisternService

  /// Loads that wait for no other load although a fetch of their key is in progress.
  @Suite struct UnjoinedFetchTests {
    private let backEnds = BackEnds()
    private let gate = Gate()

    /// The number of keys that a load asks for, and the type of its fetch.
    enum Form: CaseIterable { case single, bulk, bulkWithContexts }

    private typealias Words = InstrumentedCache<Int, String>

    @Test(
      arguments: [LoadPolicy.cachedOnly, .fetchAnew, .cachedOnly.timingOut(after: .seconds(9))], Form.allCases)
    func `a load whose policy does not join has no link`(policy: LoadPolicy, form: Form) async throws {
      let words = try words()
      try await duringFetch(by: words) { try? await load(1, from: words, policy, form) }
      #expect(words.cache.statistics.joins == 0)
      #expect(backEnds.spans("cache.join").isEmpty)
    }

    @Test(arguments: [LoadPolicy.cachedOnly, .fetchAnew], Form.allCases)
    func `a load whose cache has a policy that does not join has no link`(policy: LoadPolicy, form: Form) async throws {
      var configuration = CacheConfiguration<String>()
      configuration.loadPolicy = policy
      let words = try words(configuration)
      try await duringFetch(by: words) { try? await load(1, from: words, nil, form) }
      #expect(words.cache.statistics.joins == 0)
      #expect(backEnds.spans("cache.join").isEmpty)
    }

    @Test(arguments: Form.allCases)
    func `a load of a task that was cancelled before has no link`(form: Form) async throws {
      let words = try words()
      try await duringFetch(by: words) {
        let load = Task {
          while !Task.isCancelled { await Task.yield() }
          try await self.load(1, from: words, nil, form)
        }
        load.cancel()
        await #expect(throws: CancellationError.self) { try await load.value }
      }
      #expect(words.cache.statistics.joins == 0)
      #expect(backEnds.spans("cache.join").isEmpty)
      #expect(backEnds.latencies("cistern.cache.load.duration", result: "cancelled").count == (form == .single ? 1 : 0))
    }

    @Test func `a cancelled bulk load has no link to another fetch of a key that it fetches itself`() async throws {
      var configuration = CacheConfiguration<String>()
      configuration.loadPolicy = .fetchAnew
      let words = try words(configuration)
      try await duringFetch(by: words) {
        let load = Task {
          try await words.values(forKeys: [1]) { [gate] _ in
            try await gate.pass()
            return [1: "fast"]
          }
        }
        await gate.arrivals(atLeast: 2)
        load.cancel()
        await #expect(throws: CancellationError.self) { try await load.value }
      }
      #expect(backEnds.spans("cache.join").isEmpty)
    }

    @Test(arguments: Form.allCases, [false, true])
    func `a load that the circuit breaker rejects has no link`(form: Form, isPolicyOfCache: Bool) async throws {
      var configuration = CacheConfiguration<String>()
      if isPolicyOfCache { configuration.loadPolicy = .fetchAnew }
      configuration.circuitBreaker = CircuitBreaker(opensAfter: .consecutiveFailures(1))
      let words = try words(configuration)
      try await duringFetch(by: words) {
        await #expect(throws: OriginError.self) { try await words.value(forKey: 2) { _ in throw OriginError() } }
        try? await load(1, from: words, isPolicyOfCache ? nil : .fetchAnew, form)
      }
      #expect(words.cache.statistics.joins == 0)
      #expect(backEnds.spans("cache.fetch").count == 2)
      #expect(backEnds.spans("cache.join").isEmpty)
    }

    @Test(arguments: Form.allCases)
    func `a load that gets a value of the second tier has no link`(form: Form) async throws {
      let tier = FaultInjectingTier()
      let store = try Store(secondTier: tier, memoryLimit: .mebibytes(1))
      let words = Words(
        try store.cache("words", of: String.self, keyedBy: Int.self), instruments: backEnds.instruments())
      words.cache[1] = "stored"
      store.trimMemory(to: .bytes(0))
      try await duringFetch(by: words, .reload) { try await load(1, from: words, nil, form) }
      #expect(words.cache.statistics.joins == 0)
      #expect(backEnds.spans("cache.join").isEmpty)
    }

    // MARK: Loads

    private func words(_ configuration: CacheConfiguration<String> = CacheConfiguration()) throws -> Words {
      var settings = Store.Configuration()
      // Time stands still, so that an open breaker stays open.
      settings.clock = ManualClock()
      let store = try Store.inMemory(memoryLimit: .mebibytes(1), configuration: settings)
      return Words(
        try store.cache("words", of: String.self, keyedBy: Int.self, configuration: configuration),
        instruments: backEnds.instruments())
    }

    /// Runs `body` while another load fetches key 1.
    private func duringFetch(
      by words: Words, _ policy: LoadPolicy = .cachedOrFetch, _ body: () async throws -> Void
    ) async throws {
      let leader = Task {
        try await words.value(forKey: 1, policy: policy) { [gate] _ in
          try await gate.pass()
          return "slow"
        }
      }
      await gate.arrivals(atLeast: 1)
      try await body()
      gate.open()
      #expect(try await leader.value == "slow")
    }

    private func load(_ key: Int, from words: Words, _ policy: LoadPolicy?, _ form: Form) async throws {
      switch form {
      case .single:
        _ = try await words.value(forKey: key, policy: policy) { _ in "fast" }
      case .bulk:
        _ = try await words.values(forKeys: [key], policy: policy) { keys in
          Dictionary(uniqueKeysWithValues: keys.map { ($0, "fast") })
        }
      case .bulkWithContexts:
        _ = try await words.load(keys: [key], policy: policy) { contexts in
          Dictionary(uniqueKeysWithValues: contexts.map { ($0.key, .store("fast")) })
        }
      }
    }
  }
#endif
