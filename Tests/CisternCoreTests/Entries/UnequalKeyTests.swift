import CisternTestSupport
import Testing

@testable import CisternCore

/// Keys that do not equal themselves, such as NaN.
struct UnequalKeyTests {
  @Test func `a key that does not equal itself is found, loaded once and removed`() async throws {
    let cache = try Cache<Double, Int>(costLimit: 10, configuration: .ignoringMemoryPressure)
    for _ in 0..<3 {
      let value = try await cache.value(forKey: .nan) { _ in 1 }
      #expect(value == 1)
    }
    #expect(cache.statistics.flights == 1 && cache.statistics.memoryHits == 2)
    cache[.nan] = 2
    #expect(cache[.nan] == 2 && cache[1] == nil && cache.statistics.memory.entryCount == 1)
    cache[.nan] = nil
    #expect(cache[.nan] == nil && cache.statistics.memory.entryCount == 0)
    #expect(cache.checkInvariants() == [])
  }

  @Test func `a failed load leaves no entry of a key that does not equal itself`() async throws {
    let cache = try Cache<Double, Int>(costLimit: 10, configuration: .ignoringMemoryPressure)
    for _ in 0..<3 {
      await #expect(throws: Broken.self) { try await cache.value(forKey: .nan) { _ in throw Broken() } }
    }
    #expect(cache.statistics.inProgressCount == 0)
  }
}
