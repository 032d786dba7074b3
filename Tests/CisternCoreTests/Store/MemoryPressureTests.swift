#if !canImport(Darwin)
  import CisternTestSupport
  import Foundation
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

    @Test func `a watch ends without an eviction if its descriptor is closed, or belongs to another file`() throws {
      let watch = PressureWatch()
      let store = try Store.inMemory(memoryLimit: .mebibytes(1), configuration: .ignoringMemoryPressure)
      let cache = try filled(store)
      _ = watch.add(store.budget)
      // No process has so many descriptors.
      watch.wait(for: 1 << 30)
      var ends: [Int32] = [-1, -1]
      #expect(unsafe pipe(&ends) == 0)
      close(ends[1])
      watch.wait(for: ends[0])
      // The watch does not close a file that is not its own.
      #expect(close(ends[0]) == 0)
      // The machine itself may be short of memory, and `add` starts a thread.
      #expect(cache.statistics.memory.entryCount >= 50)
    }
  }
#endif
