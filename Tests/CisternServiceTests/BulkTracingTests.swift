#if Service
  import Cistern
  import CisternTestSupport
  import CisternTesting
  import InMemoryTracing
  import Testing

  @testable import CisternService

  @Suite struct BulkTracingTests {
    private let backEnds = BackEnds()
    private let words: InstrumentedCache<Int, String>

    init() throws {
      words = InstrumentedCache(
        try Store.inMemory(memoryLimit: .mebibytes(1)).cache("words", of: String.self, keyedBy: Int.self),
        instruments: backEnds.instruments())
    }

    @Test func `one fetch for several keys has one span`() async throws {
      words.cache[1] = "word 1"
      let loaded = try await words.values(forKeys: 1...4) { keys in
        Dictionary(uniqueKeysWithValues: keys.map { ($0, "word \($0)") })
      }
      #expect(loaded.values.count == 4)
      let spans = backEnds.spans("cache.fetch")
      #expect(spans.count == 1)
      #expect(spans.first?.attributes.get("cistern.fetch.key_count") == .int64(3))
      #expect(backEnds.spans("cache.join").isEmpty)
      #expect(words.instrumentation.records.count == 0)
    }

    @Test func `a load of one key that joins a bulk fetch links to it`() async throws {
      let gate = Gate()
      let words = words
      let bulk = Task {
        try await words.load(keys: 1...3) { contexts in
          try await gate.pass()
          return Dictionary(uniqueKeysWithValues: contexts.map { ($0.key, .store("word \($0.key)")) })
        }
      }
      await gate.arrivals(atLeast: 1)
      let single = Task { try await words.value(forKey: 2) { _ in "other" } }
      while words.cache.statistics.joins < 1 { await Task.yield() }
      gate.open()
      #expect(try await single.value == "word 2")
      _ = try await bulk.value
      let fetch = try #require(backEnds.spans("cache.fetch").first)
      #expect(backEnds.spans("cache.join").map(backEnds.links) == [[fetch.spanID]])
    }

    @Test func `a bulk load links to the fetches that it joined, and not to refreshes of values that it has`()
      async throws
    {
      let gate = Gate()
      let words = words
      words.cache[9] = "cached"
      let singles = [1, 2].map { key in
        Task {
          try await words.value(forKey: key) { key in
            try await gate.pass()
            return "word \(key)"
          }
        }
      }
      let refreshing = words.refresh(9) { _ in
        try await gate.pass()
        return .store("fresh")
      }
      #expect(refreshing)
      await gate.arrivals(atLeast: 3)
      let bulk = Task {
        try await words.values(forKeys: [1, 2, 3, 9]) { keys in
          Dictionary(uniqueKeysWithValues: keys.map { ($0, "word \($0)") })
        }
      }
      while words.cache.statistics.joins < 2 { await Task.yield() }
      gate.open()
      let loaded = try await bulk.value
      #expect(Set(loaded.values.keys) == [1, 2, 3, 9])
      for single in singles { _ = try await single.value }
      let fetches = backEnds.spans("cache.fetch").filter { $0.attributes.get("cistern.fetch.key_count") == .int64(1) }
      let join = try #require(backEnds.spans("cache.join").first)
      #expect(backEnds.links(of: join).count == 2)
      #expect(Set(backEnds.links(of: join)).isSubset(of: Set(fetches.map(\.spanID))))
    }

    @Test(arguments: [false, true])
    func `a bulk load that joins a failed fetch has the status error`(hasContexts: Bool) async throws {
      let gate = Gate()
      let words = words
      let single = Task {
        try await words.value(forKey: 1) { _ in
          try await gate.pass()
          throw OriginError()
        }
      }
      await gate.arrivals(atLeast: 1)
      let bulk = bulkLoad(of: [1, 2], hasContexts: hasContexts)
      while words.cache.statistics.joins < 1 { await Task.yield() }
      gate.open()
      let loaded = try await bulk.value
      await #expect(throws: OriginError.self) { try await single.value }
      #expect(loaded.failures[1] is OriginError && loaded.values == [2: "word"])
      let join = try #require(backEnds.spans("cache.join").first)
      #expect(backEnds.links(of: join).count == 1)
      #expect(join.status?.code == .error)
      #expect(join.attributes.get("error.type") == .string("OriginError"))
      #expect(join.errors.count == 1)
    }

    @Test(arguments: [false, true])
    func `a bulk load that joins the fetch of a missing value has no error`(hasContexts: Bool) async throws {
      let gate = Gate()
      let words = words
      let single = Task {
        try await words.load(1) { _ in
          try await gate.pass()
          return .absent()
        }
      }
      await gate.arrivals(atLeast: 1)
      let bulk = bulkLoad(of: [1], hasContexts: hasContexts)
      while words.cache.statistics.joins < 1 { await Task.yield() }
      gate.open()
      #expect(try await bulk.value.missing == [1])
      #expect(try await single.value == nil)
      let join = try #require(backEnds.spans("cache.join").first)
      #expect(backEnds.links(of: join).count == 1)
      #expect(join.status == nil && join.errors.isEmpty)
    }

    @Test func `a bulk load with contexts that got an announced value links to the fetch that still runs`() async throws
    {
      let (announcing, gate) = (Gate(), Gate())
      let words = words
      let single = Task {
        try await words.load(1) { context in
          try await announcing.pass()
          context.announce("head")
          try await gate.pass()
          return .store("whole")
        }
      }
      await announcing.arrivals(atLeast: 1)
      let bulk = bulkLoad(of: [1], hasContexts: true)
      while words.cache.statistics.joins < 1 { await Task.yield() }
      announcing.open()
      #expect(try await bulk.value.values == [1: "head"])
      let join = try #require(backEnds.spans("cache.join").first)
      #expect(backEnds.links(of: join).count == 1)
      gate.open()
      #expect(try await single.value?.value == "head")
    }

    @Test(arguments: [false, true])
    func `a bulk load that gives up has a link to the fetch that still runs`(isCancelled: Bool) async throws {
      let gate = Gate()
      let words = words
      let single = Task {
        try await words.value(forKey: 1) { _ in
          try await gate.pass()
          return "slow"
        }
      }
      await gate.arrivals(atLeast: 1)
      let policy = isCancelled ? LoadPolicy.freshOnly : .freshOnly.timingOut(after: .zero)
      let bulk = bulkLoad(of: [1], policy: policy)
      while words.cache.statistics.joins < 1 { await Task.yield() }
      if isCancelled { bulk.cancel() }
      _ = await bulk.result
      let join = try #require(backEnds.spans("cache.join").first)
      #expect(backEnds.links(of: join).count == 1)
      let type = isCancelled ? "CancellationError" : "CisternError"
      #expect(join.attributes.get("error.type") == .string(type))
      gate.open()
      #expect(try await single.value == "slow")
    }

    @Test func `a bulk load links to at most 32 fetches, and has the error of any key that it joined`() async throws {
      let gate = Gate()
      let words = words
      let singles = (0..<40).map { key in
        Task {
          try await words.value(forKey: key) { key in
            try await gate.pass()
            if key == 39 { throw OriginError() }
            return "word"
          }
        }
      }
      await gate.arrivals(atLeast: 40)
      let bulk = bulkLoad(of: Array(0..<40))
      while words.cache.statistics.joins < 40 { await Task.yield() }
      gate.open()
      #expect(try await bulk.value.values.count == 39)
      for single in singles { _ = await single.result }
      let join = try #require(backEnds.spans("cache.join").first)
      #expect(backEnds.links(of: join).count == 32)
      #expect(join.attributes.get("error.type") == .string("OriginError"))
    }

    private func bulkLoad(
      of keys: [Int], policy: LoadPolicy? = nil, hasContexts: Bool = false
    ) -> Task<LoadedValues<Int, String>, any Error> {
      let words = words
      return Task {
        guard hasContexts else {
          return try await words.values(forKeys: keys, policy: policy) { keys in
            Dictionary(uniqueKeysWithValues: keys.map { ($0, "word") })
          }
        }
        return try await words.load(keys: keys, policy: policy) { contexts in
          Dictionary(uniqueKeysWithValues: contexts.map { ($0.key, .store("word")) })
        }
      }
    }
  }
#endif
