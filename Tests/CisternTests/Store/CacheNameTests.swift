import CisternTestSupport
import Cistern
import Testing

@testable import CisternCore
@testable import CisternDisk

/// Names of caches that are equal and differ in their Unicode form.
@Suite struct CacheNameTests {
  private static let composed = "caf\u{e9}"
  private static let decomposed = "cafe\u{301}"

  private func open(_ scratch: TemporaryDirectory, isReadOnly: Bool = false) throws -> Store {
    var configuration: Store.Configuration = .ignoringMemoryPressure
    configuration.isReadOnly = isReadOnly
    configuration.durability = .processCrash
    return try Store(
      directory: scratch.store, memoryLimit: .mebibytes(1), diskLimit: .mebibytes(16), configuration: configuration)
  }

  private func cache(_ name: String, in store: Store) throws -> Cache<String, [UInt8]> {
    try store.cache(name, of: [UInt8].self, keyedBy: String.self)
  }

  /// Writes as earlier versions did, with the name in its given Unicode form.
  private func write(
    _ name: String, _ key: String, _ value: [UInt8], _ scratch: TemporaryDirectory, removes: Bool = false
  )
    async throws
  {
    let tier = try openTier(scratch)
    let partition = tier.engine.partition(named: name)
    _ = tier.engine.stage(
      .record(key: Array(key.utf8), DiskPartition.metadata(tags: ["tag"]), bytes: value), in: partition)
    try await tier.flush()
    if removes { _ = tier.engine.stageInvalidation(.tag("tag"), of: partition, hasCache: false) }
    try await tier.close()
  }

  /// Writes a record to several caches, as earlier versions did.
  private func write(_ names: [String], _ key: String, _ scratch: TemporaryDirectory) async throws {
    let tier = try openTier(scratch)
    for name in names {
      let partition = tier.engine.partition(named: name)
      _ = tier.engine.stage(
        .record(key: Array(key.utf8), DiskPartition.metadata(tags: []), bytes: [1]), in: partition)
    }
    try await tier.close()
  }

  @Test(arguments: [(composed, decomposed), (decomposed, composed)])
  func `equal names denote one cache, also after reopening`(first: String, second: String) async throws {
    let scratch = TemporaryDirectory()
    var store = try open(scratch)
    try cache(first, in: store)["k"] = [1]
    #expect(try cache(first, in: store) === cache(second, in: store))
    try await store.close()
    store = try open(scratch)
    #expect(try cache(second, in: store)["k"] == [1])
    try cache(second, in: store)["k"] = [2]
    try await store.close()
    store = try open(scratch)
    #expect(try cache(first, in: store)["k"] == [2])
    try await store.close()
    let tier = try openTier(scratch)
    #expect(try tier.partitionNames().count == 1)
    try await tier.close()
  }

  @Test func `a cache stored under a decomposed name is found by both forms`() async throws {
    let scratch = TemporaryDirectory()
    try await write(Self.decomposed, "k", [1], scratch)
    for isReadOnly in [true, false, true, false] {
      for name in [Self.composed, Self.decomposed] {
        let store = try open(scratch, isReadOnly: isReadOnly)
        #expect(try cache(name, in: store)["k"] == [1])
        try await store.close()
      }
    }
  }

  @Test func `a record invalidated before its cache's name was normalized stays invalid`() async throws {
    let scratch = TemporaryDirectory()
    try await write(Self.decomposed, "k", [1], scratch, removes: true)
    let store = try open(scratch)
    #expect(try cache(Self.composed, in: store)["k"] == nil)
    try await store.close()
    let tier = try openTier(scratch)
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test func `of two caches with equal names in a file, the newer one is kept`() async throws {
    let scratch = TemporaryDirectory()
    try await write(Self.composed, "old", [1], scratch)
    try await write(Self.decomposed, "new", [2], scratch)
    let store = try open(scratch)
    for name in [Self.composed, Self.decomposed] {
      #expect(try cache(name, in: store)["new"] == [2])
      #expect(try cache(name, in: store)["old"] == nil)
    }
    try await store.close()
    let check = try openTier(scratch)
    #expect(try check.partitionNames().count == 1)
    #expect(check.checkInvariants() == [])
    try await check.close()
  }

  @Test func `of many pairs of equal names, every older cache is removed`() async throws {
    let scratch = TemporaryDirectory()
    let letters = ["a", "e", "i", "o", "u", "A", "E", "I"]
    let decomposed = letters.map { $0 + "\u{301}" }
    // Each tier opens the names of one form only.
    try await write(decomposed.map { $0.normalizedForKey() }, "old", scratch)
    try await write(decomposed, "new", scratch)
    let store = try open(scratch)
    for name in decomposed {
      let cache = try cache(name, in: store)
      #expect(cache["new"] == [1])
      #expect(cache["old"] == nil)
    }
    try await store.close()
    let check = try openTier(scratch)
    #expect(try check.partitionNames().count == letters.count)
    #expect(check.checkInvariants() == [])
    try await check.close()
  }
}
