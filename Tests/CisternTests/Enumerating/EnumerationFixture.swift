import Cistern
import CisternTestSupport
import CisternTesting

@testable import CisternCore

/// A store on disk, for tests of enumerations. Only flushes commit.
struct EnumerationFixture {
  let scratch = TemporaryDirectory()
  let clock = ManualClock()
  let store: Store
  let cache: Cache<String, [UInt8]>

  init(
    _ layout: DiskLayout, expiry: Expiry = .never, commitInterval: Duration = .seconds(3600),
    configuration settings: CacheConfiguration<[UInt8]> = CacheConfiguration()
  ) throws {
    var configuration: Store.Configuration = .ignoringMemoryPressure(clock: clock)
    configuration.durability = .processCrash
    configuration.diskLayout = layout
    configuration.commitInterval = commitInterval
    store = try Store(
      directory: scratch.store, memoryLimit: .mebibytes(8), diskLimit: .mebibytes(32), configuration: configuration)
    cache = try store.cache(
      "cache", of: [UInt8].self, keyedBy: String.self, expiry: expiry, configuration: settings)
  }

  /// Returns the keys in the order of the file.
  func inOrder(_ keys: [String]) -> [String] {
    guard let partition = cache.secondTier?.partition else { return keys }
    let places = keys.map { key in (key, key.withKeyBytes { partition.position(of: $0) }) }
    return places.sorted { $0.1 < $1.1 }.map(\.0)
  }

  /// Returns the keys that follow a key in the order of the file.
  func keys(of keys: [String], after key: String) -> [String] {
    Array(inOrder(Set(keys + [key]).sorted()).drop { $0 != key }.dropFirst())
  }

  /// Commits, and evicts all of memory.
  func moveToDisk() async throws {
    try await store.flush()
    cache.trim(toCost: 0)
  }
}

extension Cache where Key: CacheKey {
  /// Returns the keys of all pages, of one entry at most after another.
  func pagedKeys(limit: Int, of selection: EntrySelection = .all) throws -> [Key] {
    var keys: [Key] = []
    var cursor: EntryCursor?
    repeat {
      let page = try page(after: cursor, limit: limit, of: selection)
      keys += page.entries.map(\.key)
      cursor = page.next
    } while cursor != nil
    return keys
  }

  /// Returns the keys of an enumeration.
  func allKeys(_ selection: EntrySelection = .all) async throws -> [Key] {
    var keys: [Key] = []
    for try await key in self.keys(selection) { keys.append(key) }
    return keys
  }
}
