import Cistern
import CisternTestSupport
import CisternTesting
import Testing

@testable import CisternCore

/// Enumerations that begin after a write returned, while the writer thread commits it.
@Suite struct EnumeratedWritesThreadsTests {
  @Test func `an enumeration has the data of a write that is committed during it`() async throws {
    let scratch = TemporaryDirectory()
    var configuration: Store.Configuration = .ignoringMemoryPressure
    configuration.durability = .processCrash
    configuration.commitInterval = .milliseconds(1)
    let store = try Store(
      directory: scratch.store, memoryLimit: .mebibytes(1), diskLimit: .mebibytes(8), configuration: configuration)
    var settings = CacheConfiguration<[UInt8]>()
    settings.tiers = .secondTierOnly
    let cache = try store.cache("cache", of: [UInt8].self, keyedBy: String.self, configuration: settings)
    for number in 0..<100 { cache["other \(number)"] = [1] }
    // The commits and the enumerations take different times, so that they meet at different points.
    for round in 0..<600 {
      cache.setValue([2], forKey: "key", tags: ["\(round)"])
      for _ in 0..<(round % 4) { await Task.yield() }
      let keys = try await cache.allKeys(.tagged("\(round)"))
      #expect(keys == ["key"], "round \(round)")
      if keys.isEmpty { break }
    }
    try await store.close()
  }
}
