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

  private struct Point: Hashable, Sendable {
    let x: Double
    let y: Double
  }

  @Test func `keys that do not equal themselves are told apart by their hashes`() throws {
    let cache = try Cache<Point, Int>(costLimit: 10_000, configuration: .ignoringMemoryPressure)
    for number in 0..<2_000 { cache[Point(x: .nan, y: Double(number))] = number }
    #expect((0..<2_000).allSatisfy { cache[Point(x: .nan, y: Double($0))] == $0 })
    #expect(cache.statistics.memory.entryCount == 2_000)
  }

  @Test func `a failed load leaves no entry of a key that does not equal itself`() async throws {
    let cache = try Cache<Double, Int>(costLimit: 10, configuration: .ignoringMemoryPressure)
    for _ in 0..<3 {
      await #expect(throws: Broken.self) { try await cache.value(forKey: .nan) { _ in throw Broken() } }
    }
    #expect(cache.statistics.inProgressCount == 0)
  }
}
