import Cistern
import CisternTestSupport
import CisternTesting
import Testing

/// Values that a fetch keeps with other tags, and removals by tag before the commit. The committed record still has its
/// older tags.
@Suite struct KeptTagsTests {
  @Test(arguments: [CacheTiers.both, .secondTierOnly], [true, false])
  func `a removal by a tag that a fetch gave to a kept value removes it from both tiers`(
    tiers: CacheTiers, isOfStore: Bool
  ) async throws {
    let scratch = TemporaryDirectory()
    let (store, cache) = try await openWithOlderTag(scratch, tiers: tiers)
    _ = try await cache.load("a", policy: .reload) { _ in .keepStored(tags: ["newer"]) }
    #expect(cache.find("a")?.tags == ["newer"])
    #expect(try await entries(of: cache, tagged: "newer") == ["a"])
    if isOfStore { store.removeAll(tagged: "newer") } else { cache.removeAll(tagged: "newer") }
    try await expectAbsent(in: cache)
    try await store.flush()
    try await expectAbsent(in: cache)
    try await store.close()
    let reopened = try open(scratch)
    try await expectAbsent(in: self.cache(in: reopened, tiers: tiers))
    try await reopened.close()
  }

  @Test(arguments: [CacheTiers.both, .secondTierOnly])
  func `a removal by another tag leaves a kept value, and a value that is kept later stays`(tiers: CacheTiers)
    async throws
  {
    let scratch = TemporaryDirectory()
    let (store, cache) = try await openWithOlderTag(scratch, tiers: tiers)
    cache.removeAll(tagged: "newer")
    _ = try await cache.load("a", policy: .reload) { _ in .keepStored(tags: ["newer"]) }
    cache.removeAll(tagged: "other")
    cache.trim(toCost: 0)
    #expect(cache["a"] == [1])
    #expect(try await entries(of: cache, tagged: "newer") == ["a"])
    try await store.flush()
    cache.trim(toCost: 0)
    #expect(cache.find("a")?.tags == ["newer"])
    try await store.close()
  }

  @Test(arguments: [CacheTiers.both, .secondTierOnly], [true, false])
  func `a removal by a tag that a fetch took from a kept value leaves it`(tiers: CacheTiers, isOfStore: Bool)
    async throws
  {
    let scratch = TemporaryDirectory()
    let (store, cache) = try await openWithOlderTag(scratch, tiers: tiers)
    _ = try await cache.load("a", policy: .reload) { _ in .keepStored(tags: ["newer"]) }
    if isOfStore { store.removeAll(tagged: "older") } else { cache.removeAll(tagged: "older") }
    cache.trim(toCost: 0)
    try await expectKept(in: cache)
    // The removal and the rewrite are in one commit.
    try await store.flush()
    cache.trim(toCost: 0)
    try await expectKept(in: cache)
    try await store.close()
    let reopened = try open(scratch)
    try await expectKept(in: self.cache(in: reopened, tiers: tiers))
    try await reopened.close()
  }

  @Test func `a removal by the older tag before a fetch keeps its value removes it`() async throws {
    let scratch = TemporaryDirectory()
    let (store, cache) = try await openWithOlderTag(scratch, tiers: .secondTierOnly)
    let loaded = try await cache.load("a", policy: .reload) { context in
      cache.removeAll(tagged: "older")
      return .keepStored(tags: ["newer"])
    }
    #expect(loaded?.value == [1])
    try await expectAbsent(in: cache)
    try await store.flush()
    try await expectAbsent(in: cache)
    try await store.close()
  }

  @Test func `an enumeration of a kept value before the commit counts no hit`() async throws {
    let scratch = TemporaryDirectory()
    let (store, cache) = try await openWithOlderTag(scratch, tiers: .secondTierOnly)
    _ = try await cache.load("a", policy: .reload) { _ in .keepStored(tags: ["newer"]) }
    let before = store.statistics.disk
    #expect(try await entries(of: cache, tagged: "newer") == ["a"])
    #expect(try await cache.keyCount() == 1)
    let after = store.statistics.disk
    #expect(after?.hits == before?.hits && after?.misses == before?.misses)
    try await store.close()
  }

  /// A store that commits only when it is flushed.
  private func open(_ scratch: TemporaryDirectory) throws -> Store {
    var configuration: Store.Configuration = .ignoringMemoryPressure
    configuration.commitInterval = .seconds(3600)
    return try Store(
      directory: scratch.store, memoryLimit: .mebibytes(1), diskLimit: .mebibytes(8), configuration: configuration)
  }

  /// Returns such a store, and a cache with a committed value that has the tag "older".
  private func openWithOlderTag(
    _ scratch: TemporaryDirectory, tiers: CacheTiers
  ) async throws -> (Store, Cache<String, [UInt8]>) {
    let store = try open(scratch)
    let cache = try cache(in: store, tiers: tiers)
    cache.setValue([1], forKey: "a", tags: ["older"])
    try await store.flush()
    return (store, cache)
  }

  private func cache(in store: Store, tiers: CacheTiers) throws -> Cache<String, [UInt8]> {
    var configuration = CacheConfiguration<[UInt8]>()
    configuration.tiers = tiers
    return try store.cache("cache", of: [UInt8].self, keyedBy: String.self, configuration: configuration)
  }

  private func entries(of cache: Cache<String, [UInt8]>, tagged tag: String) async throws -> [String] {
    var keys: [String] = []
    for try await entry in cache.entries(.tagged(tag)) { keys.append(entry.key) }
    return keys
  }

  private func expectKept(in cache: Cache<String, [UInt8]>) async throws {
    #expect(cache.contains("a"))
    #expect(try await entries(of: cache, tagged: "newer") == ["a"])
    #expect(try await entries(of: cache, tagged: "older") == [])
    #expect(try await cache.keyCount() == 1)
    #expect(cache.find("a")?.tags == ["newer"])
    #expect(cache["a"] == [1])
    cache.trim(toCost: 0)
  }

  private func expectAbsent(in cache: Cache<String, [UInt8]>) async throws {
    #expect(!cache.contains("a"))
    // The enumeration comes before a look-up, which could move the value into memory.
    #expect(try await entries(of: cache, tagged: "newer") == [])
    #expect(cache.find("a") == nil && cache["a"] == nil)
    #expect(try await cache.keyCount() == 0)
    cache.trim(toCost: 0)
    #expect(cache["a"] == nil)
  }
}
