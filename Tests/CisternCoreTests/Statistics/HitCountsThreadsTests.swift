import CisternTesting
import CisternTestSupport
import Testing

@testable import CisternCore

/// Counts of look-ups on threads that also write the keys.
struct HitCountsThreadsTests {
  @Test func `each look-up counts as one hit or one miss, and a write counts as none`() async throws {
    let store = try Store(
      secondTier: FaultInjectingTier(), memoryLimit: .mebibytes(1), configuration: .ignoringMemoryPressure)
    let cache = try store.cache("numbers", of: Int.self, keyedBy: Int.self)
    let found = Recorder<Bool>()
    await withDiscardingTaskGroup { group in
      for thread in 0..<4 {
        group.addTask {
          var generator = SeededGenerator(seed: UInt64(thread))
          for step in 0..<4_000 {
            let key = generator.next(below: 3)
            switch generator.next(below: 6) {
            case 0, 1: cache[key] = step
            case 2: cache[key] = nil
            default: found.record(cache[key] != nil)
            }
          }
        }
      }
    }
    let statistics = cache.statistics
    #expect(statistics.hits == found.elements.count { $0 })
    #expect(statistics.misses == found.elements.count { !$0 })
    #expect(cache.checkInvariants() == [])
  }
}
