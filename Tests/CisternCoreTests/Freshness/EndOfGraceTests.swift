import CisternTestSupport
import CisternTesting
import Testing

@testable import CisternCore

/// Reads during which the grace of a value ends: between two reads of the clock.
struct EndOfGraceTests {
  /// Returns a cache with a stale value, whose grace ends after a number of reads of the clock.
  private func staleCache(isInMemory: Bool, endingAfterReads count: Int) throws -> Cache<String, [UInt8]> {
    let clock = InterruptedClock()
    let configuration = Store.Configuration.ignoringMemoryPressure(clock: clock)
    let store = try Store(secondTier: FaultInjectingTier(), memoryLimit: .mebibytes(1), configuration: configuration)
    let cache = try store.cache("values", of: [UInt8].self, keyedBy: String.self)
    cache.setValue([1], forKey: "a", expiry: .after(.seconds(60), graceStale: .seconds(600)))
    if !isInMemory { cache.trim(toCost: 0) }
    clock.manual.advance(by: .seconds(61))
    let end: @Sendable () -> Void = { [manual = clock.manual] in manual.advance(by: .seconds(1_000)) }
    if count == 0 { end() } else { clock.interrupt(afterReads: count - 1, end) }
    return cache
  }

  /// The calls that return only a fresh value. Each returns whether it found one.
  private static let reads: [@Sendable (Cache<String, [UInt8]>) -> Bool] = [
    { $0["a"] != nil },
    { $0.contains("a") },
    { $0.withBytes(forKey: "a") { _ in true } ?? false },
    { $0.find("a").map { !$0.isStale } ?? false },
  ]

  @Test(arguments: reads.indices, [false, true])
  func `a stale value whose grace ends during a read is not returned as a fresh one`(
    read: Int, isInMemory: Bool
  ) throws {
    for count in 0..<12 {
      let cache = try staleCache(isInMemory: isInMemory, endingAfterReads: count)
      #expect(!Self.reads[read](cache), "the grace ended after \(count) reads of the clock")
    }
  }

  @Test(arguments: [false, true])
  func `a write that depends on a value whose grace ends concurrently does not get it as a fresh one`(
    isInMemory: Bool
  ) async throws {
    for count in 0..<12 {
      let cache = try staleCache(isInMemory: isInMemory, endingAfterReads: count)
      var seen: [[UInt8]?] = []
      cache.updateValue(forKey: "a") { value in
        seen.append(value)
        value = [2]
      }
      #expect(seen.allSatisfy { $0 == nil }, "the grace ended after \(count) reads of the clock")
      #expect(cache["a"] == [2])
    }
  }
}
