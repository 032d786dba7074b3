import CisternTestSupport
import Testing

@testable import CisternCore
@testable import CisternDisk

@Suite struct DiskTierTests {
  @Test func `a staged write is readable immediately, after its commit, and after reopening`() async throws {
    let scratch = TemporaryDirectory()
    var tier = try openTier(scratch)
    var cache = try tier.cache()
    cache.put("a", bytes("one"))
    #expect(cache.get("a") == bytes("one"))
    try await tier.flush()
    #expect(cache.get("a") == bytes("one"))
    #expect(cache.statistics.entryCount == 1)
    try await tier.close()
    #expect(cache.get("a") == nil)

    tier = try openTier(scratch)
    cache = try tier.cache()
    #expect(cache.get("a") == bytes("one"))
    #expect(cache.statistics.entryCount == 1)
    #expect(cache.keys() == ["a"])
    try await tier.close()
  }

  @Test func `a removal and a removal of all records take effect immediately and permanently`() async throws {
    let scratch = TemporaryDirectory()
    var tier = try openTier(scratch)
    var cache = try tier.cache()
    let other = try tier.cache("other")
    for number in 0..<100 { cache.put("k\(number)", value(number, size: 100)) }
    other.put("k1", bytes("other"))
    try await tier.flush()
    cache.remove("k1")
    #expect(cache.get("k1") == nil)
    _ = cache.stageRemovalOfAll()
    #expect(cache.get("k2") == nil)
    cache.put("k3", bytes("new"))
    #expect(cache.get("k3") == bytes("new"))
    #expect(other.get("k1") == bytes("other"))
    try await tier.flush()
    #expect(cache.keys() == ["k3"])
    #expect(cache.statistics.entryCount == 1)
    try await tier.close()

    tier = try openTier(scratch)
    cache = try tier.cache()
    #expect(cache.keys() == ["k3"])
    #expect(try tier.cache("other").get("k1") == bytes("other"))
    try await tier.close()
  }
}
