import Cistern
import CisternTestSupport
import CisternTesting

@testable import CisternCore

/// A store on disk with ordered keys, for tests of enumerations. Only flushes commit.
struct EnumerationFixture {
  let scratch = TemporaryDirectory()
  let clock = ManualClock()
  let store: Store
  let cache: Cache<String, [UInt8]>

  init(
    expiry: Expiry = .never, commitInterval: Duration = .seconds(3600),
    configuration settings: CacheConfiguration<[UInt8]> = CacheConfiguration()
  ) throws {
    var configuration: Store.Configuration = .ignoringMemoryPressure(clock: clock)
    configuration.durability = .processCrash
    configuration.diskLayout = .ordered
    configuration.commitInterval = commitInterval
    store = try Store(
      directory: scratch.store, memoryLimit: .mebibytes(8), diskLimit: .mebibytes(32), configuration: configuration)
    cache = try store.cache(
      "cache", of: [UInt8].self, keyedBy: String.self, expiry: expiry, configuration: settings)
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
