#if Service
  import Cistern
  import CisternTestSupport
  import CisternTesting
  import Locking
  import MetricsTestKit
  import Testing

  @testable import CisternService

  @Suite struct ExportedStatisticsTests {
    private let backEnds = BackEnds()

    @Test func `counters advance by the difference to the last export`() async throws {
      let store = try Store.inMemory(memoryLimit: .mebibytes(1))
      let words = try store.cache("words", of: String.self, keyedBy: Int.self)
      let service = StoreService(store, instruments: backEnds.instruments())
      _ = try await words.value(forKey: 1) { "word \($0)" }
      for _ in 0..<3 { _ = words[1] }
      service.exportStatistics()
      #expect(requests("memory", "hit") == 3)
      #expect(requests("none", "miss") == 1)
      #expect(backEnds.total("cistern.cache.flights") == 1)
      #expect(backEnds.total("cistern.cache.writes", ["cistern.cache.result": "stored"]) == 1)

      service.exportStatistics()
      #expect(requests("memory", "hit") == 3)
      _ = words[1]
      service.exportStatistics()
      #expect(requests("memory", "hit") == 4)
      #expect(backEnds.metrics.counters(label: "cistern.cache.flights").first?.values == [1])
    }

    @Test func `exports on several threads count each difference once`() async throws {
      let tier = SlowlyReadTier()
      let service = StoreService(
        try Store(secondTier: tier, memoryLimit: .mebibytes(1)), instruments: backEnds.instruments())
      let (threadCount, exportCount) = (4, 25)
      let ended = Recorder<Int>()
      for thread in 0..<threadCount {
        try SystemThread.start {
          for _ in 0..<exportCount { service.exportStatistics() }
          ended.record(thread)
        }
      }
      while ended.count < threadCount { await Task.yield() }
      #expect(tier.readCount == threadCount * exportCount)
      #expect(backEnds.total("cistern.store.commits") == tier.readCount)
    }

    @Test func `gauges have the present sizes`() throws {
      let store = try Store.inMemory(memoryLimit: .mebibytes(1))
      let words = try store.cache("words", of: String.self, keyedBy: Int.self)
      let service = StoreService(store, instruments: backEnds.instruments())
      for key in 0..<5 { words[key] = "word" }
      service.exportStatistics()
      #expect(backEnds.gauge("cistern.cache.entry.count", ["cistern.cache.tier": "memory"]) == 5)
      #expect(
        backEnds.gauge("cistern.cache.size", ["cistern.cache.tier": "memory"]) == Double(store.statistics.memory.cost))
      #expect(backEnds.gauge("cistern.store.limit", ["cistern.cache.tier": "memory"]) == 1_048_576)
      words.removeAll()
      service.exportStatistics()
      #expect(backEnds.gauge("cistern.cache.entry.count", ["cistern.cache.tier": "memory"]) == 0)
    }

    @Test func `the second tier has its own series`() async throws {
      let tier = FaultInjectingTier()
      let store = try Store(secondTier: tier, memoryLimit: .mebibytes(1))
      let words = try store.cache("words", of: String.self, keyedBy: Int.self)
      let service = StoreService(store, instruments: backEnds.instruments())
      words[1] = "word"
      tier.commit()
      store.trimMemory(to: .bytes(0))
      #expect(words[1] == "word")
      service.exportStatistics()
      #expect(requests("disk", "hit") == 1)
      #expect(backEnds.gauge("cistern.store.degraded") == 0)
      tier.setMode(.degraded)
      service.exportStatistics()
      #expect(backEnds.gauge("cistern.store.degraded") == 1)
    }

    @Test func `removals that the second tier widened to all keys have a counter`() {
      let exporter = StatisticsExporter(metrics: backEnds.metrics, labels: CacheLabels(limit: 64))
      var statistics = CacheStatistics()
      statistics.invalidations = 3
      statistics.widenedRemovals = 2
      exporter.record { StoreStatistics(caches: ["words": statistics]) }
      #expect(backEnds.total("cistern.cache.widened_removals") == 2)
      #expect(backEnds.total("cistern.cache.invalidations") == 3)
    }

    @Test func `caches beyond the bound share one label, and add up there`() throws {
      let store = try Store.inMemory(memoryLimit: .mebibytes(1))
      let service = StoreService(store, instruments: backEnds.instruments(labelCount: 2))
      let caches = try (0..<10).map { try store.cache("cache \($0)", of: String.self, keyedBy: Int.self) }
      for cache in caches {
        cache[1] = "word"
        _ = cache[1]
      }
      service.exportStatistics()
      let counters = backEnds.metrics.counters(label: "cistern.cache.requests")
      let names = Set(counters.flatMap(\.dimensions).filter { $0.0 == "cistern.cache.name" }.map(\.1))
      #expect(names.count == 3 && names.contains("other"))
      #expect(requests("memory", "hit") == 10)
      let other = ["cistern.cache.name": "other", "cistern.cache.tier": "memory"]
      #expect(backEnds.total("cistern.cache.requests", other) == 8)
      #expect(backEnds.gauge("cistern.cache.entry.count", other) == 8)
    }

    @Test func `a cache keeps its label after the bound is reached`() {
      let labels = CacheLabels(limit: 1)
      #expect(
        ["words", "pages", "words", "pages", ""].map(labels.label) == ["words", "other", "words", "other", "other"])
    }

    @Test func `all counts of a cache that was opened again count, also those that have grown beyond the earlier ones`()
    {
      let exporter = StatisticsExporter(metrics: backEnds.metrics, labels: CacheLabels(limit: 64))
      func export(hits: Int, stores: Int) {
        var statistics = CacheStatistics()
        statistics.memoryHits = hits
        statistics.stores = stores
        exporter.record { StoreStatistics(caches: ["words": statistics]) }
      }
      export(hits: 100, stores: 50)
      export(hits: 120, stores: 5)
      #expect(requests("memory", "hit") == 220)
      #expect(backEnds.total("cistern.cache.writes", ["cistern.cache.result": "stored"]) == 55)
    }

    @Test func `a corrected number of misses is counted once`() {
      let exporter = StatisticsExporter(metrics: backEnds.metrics, labels: CacheLabels(limit: 64))
      for misses in [1_000, 999, 999, 1_001] {
        var statistics = CacheStatistics()
        statistics.misses = misses
        exporter.record { StoreStatistics(caches: ["words": statistics]) }
      }
      #expect(requests("none", "miss") == 1_001)
    }

    @Test func `counts that begin again at zero do not lower a counter`() {
      let exporter = StatisticsExporter(metrics: backEnds.metrics, labels: CacheLabels(limit: 64))
      func export(_ caches: [String: Int]) {
        let statistics = caches.mapValues { hits in
          var statistics = CacheStatistics()
          statistics.memoryHits = hits
          return statistics
        }
        exporter.record { StoreStatistics(caches: statistics) }
      }
      export(["words": 4])
      export([:])
      export(["words": 3])
      #expect(requests("memory", "hit") == 7)
      export(["words": 2])
      #expect(requests("memory", "hit") == 9)
    }

    @Test func `the gauges of a cache that was released become zero`() {
      let exporter = StatisticsExporter(metrics: backEnds.metrics, labels: CacheLabels(limit: 64))
      exporter.record { StoreStatistics(caches: ["words": CacheStatistics(memory: MemoryStatistics(entryCount: 7))]) }
      #expect(backEnds.gauge("cistern.cache.entry.count", ["cistern.cache.tier": "memory"]) == 7)
      exporter.record { StoreStatistics() }
      #expect(backEnds.gauge("cistern.cache.entry.count", ["cistern.cache.tier": "memory"]) == 0)
    }

    private func requests(_ tier: String, _ result: String) -> Int {
      backEnds.total("cistern.cache.requests", ["cistern.cache.tier": tier, "cistern.cache.result": result])
    }
  }
#endif
