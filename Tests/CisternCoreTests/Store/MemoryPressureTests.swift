#if !canImport(Darwin)
  import CisternTestSupport
  import Testing

  @testable import CisternCore
  @testable import Eviction

  @Suite struct MemoryPressureTests {
    private func filled(_ store: Store) throws -> Cache<Int, Int> {
      var configuration = CacheConfiguration<Int>()
      configuration.weigher = { _ in 100 }
      let cache = try store.cache("numbers", of: Int.self, keyedBy: Int.self, configuration: configuration)
      for key in 0..<100 { cache[key] = key }
      return cache
    }

    @Test func `memory pressure evicts half of each store that responds to it`() throws {
      let responding = try filled(Store.inMemory(memoryLimit: .mebibytes(1), configuration: Store.Configuration()))
      let ignoring = try filled(Store.inMemory(memoryLimit: .mebibytes(1), configuration: .ignoringMemoryPressure))
      let ofTests = try filled(Store.inMemory(memoryLimit: .mebibytes(1)))
      PressureWatch.shared.respond()
      // The machine itself may be short of memory as well.
      #expect(responding.statistics.memory.entryCount <= 50)
      #expect(ignoring.statistics.memory.entryCount == 100)
      #expect(ofTests.statistics.memory.entryCount == 100)
    }
  }
#endif
