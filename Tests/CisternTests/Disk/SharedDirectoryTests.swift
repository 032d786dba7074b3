import CisternTestSupport
import Cistern
import Foundation
import Testing

@testable import CisternCore
@testable import CisternDisk

/// Caches of a store in which another process also invalidates records.
@Suite(.serialized) struct SharedDirectoryTests {
  private func open(_ scratch: TemporaryDirectory) throws -> (Store, Cache<String, [UInt8]>) {
    var configuration: Store.Configuration = .ignoringMemoryPressure
    configuration.durability = .processCrash
    let store = try Store(
      directory: scratch.store, memoryLimit: .mebibytes(4), diskLimit: .mebibytes(16), configuration: configuration)
    return (store, try store.cache("cache", of: [UInt8].self, keyedBy: String.self))
  }

  /// Returns the value of a key on disk, after evicting memory.
  private func onDisk(_ key: String, of cache: Cache<String, [UInt8]>) -> [UInt8]? {
    cache.trim(toCost: 0)
    return cache[key]
  }

  @Test(arguments: ["tag", "prefix", "another prefix"])
  func `after another process's removal by tag or prefix each kind of write is on disk`(kind: String) async throws {
    let scratch = TemporaryDirectory()
    let (store, cache) = try open(scratch)
    try await cache.commitValue([0], forKey: "key-old", tags: ["gone"])
    let child =
      switch kind {
      case "tag": try ChildProcess("purge", scratch.store, "\(16 << 20)", "processCrash")
      case "prefix": try ChildProcess("purge", scratch.store, "\(16 << 20)", "processCrash", "key-")
      default: try ChildProcess("purge", scratch.store, "\(16 << 20)", "processCrash", "none")
      }
    #expect(child.readLine() == "invalidated")
    // The first write is staged before this process can have learned of the removal.
    try await cache.commitValue([1], forKey: "key-1", tags: ["gone"])
    #expect(onDisk("key-1", of: cache) == [1])
    try await cache.commitValue([2], forKey: "key-2", tags: ["gone"])
    cache.setValue([3], forKey: "key-3", tags: ["gone"])
    try await store.flush()
    _ = try await cache.value(forKey: "key-4", tags: ["gone"]) { _ in [4] }
    _ = try await cache.values(forKeys: ["key-5", "key-6"], tags: ["gone"]) { keys in
      Dictionary(uniqueKeysWithValues: keys.map { ($0, [$0.utf8.last!]) })
    }
    _ = try await cache.refreshValue(forKey: "key-7", tags: ["gone"]) { _ in [7] }
    try await cache.commitBatch { $0.setValue([8], forKey: "key-8", tags: ["gone"]) }
    try await cache.commitUpdate(forKey: "key-9", tags: ["gone"]) { $0 = [9] }
    let draft = cache.draft()
    draft["key-10"] = [10]
    try await draft.commit()
    try await store.flush()
    _ = child.kill()
    try await store.close()
    let (again, reopened) = try open(scratch)
    #expect(reopened["key-old"] == (kind == "another prefix" ? [0] : nil))
    for number in [1, 2, 3, 4, 7, 8, 9, 10] { #expect(reopened["key-\(number)"] == [UInt8(number)]) }
    for number in [5, 6] { #expect(reopened["key-\(number)"] == "\(number)".utf8.map { $0 }) }
    #expect(again.reports.isEmpty)
    try await again.close()
  }

  @Test func `while another process invalidates continuously, each committed write is on disk`()
    async throws
  {
    let scratch = TemporaryDirectory()
    let (store, cache) = try open(scratch)
    let child = try ChildProcess("invalidate-repeatedly", scratch.store, "\(16 << 20)", "processCrash")
    #expect(child.readLine() == "invalidating")
    for round in 0..<150 {
      let bytes = [UInt8(round)]
      // A value set after a removal of its tag is newer than the removal, regardless of concurrent invalidations
      // elsewhere.
      cache.removeAll(tagged: "mine")
      try await cache.commitValue(bytes, forKey: "set", tags: ["mine"])
      #expect(onDisk("set", of: cache) == bytes, "round \(round)")
    }
    cache.removeAll(tagged: "mine")
    #expect(cache["set"] == nil)
    _ = child.kill()
    try await store.flush()
    #expect(cache["set"] == nil)
    #expect(store.reports.isEmpty)
    try await store.close()
  }

  @Test func `a migration that another process's write overtakes does not bring the older value back`() async throws {
    let scratch = TemporaryDirectory()
    let (first, unversioned) = try open(scratch)
    try await unversioned.commitValue([0], forKey: "key-0")
    try await first.close()
    var configuration: Store.Configuration = .ignoringMemoryPressure
    configuration.durability = .processCrash
    // Committed by the flushes only.
    configuration.commitInterval = .seconds(3600)
    let store = try Store(
      directory: scratch.store, memoryLimit: .mebibytes(4), diskLimit: .mebibytes(16), configuration: configuration)
    var settings = CacheConfiguration<[UInt8]>()
    settings.schema = CacheSchema(version: 1) { bytes, _ in bytes + [1] }
    let cache = try store.cache("cache", of: [UInt8].self, keyedBy: String.self, configuration: settings)
    #expect(cache["key-0"] == [0, 1])
    let child = try ChildProcess("replace", scratch.store, "\(16 << 20)", "processCrash")
    #expect(child.readLine() == "replaced")
    #expect(onDisk("key-0", of: cache) == [7, 1])
    try await store.flush()
    #expect(onDisk("key-0", of: cache) == [7, 1])
    _ = child.kill()
    try await store.close()
  }

  @Test(arguments: ["gone", "kept"])
  func `a fetch during another process's removal is stored unless the removal covers it`(tag: String) async throws {
    let scratch = TemporaryDirectory()
    let (store, cache) = try open(scratch)
    let path = scratch.store
    let value = try await cache.value(forKey: "key", tags: [tag]) { _ in
      let child = try ChildProcess("purge", path, "\(16 << 20)", "processCrash")
      _ = child.readLine()
      _ = child.kill()
      return [1]
    }
    #expect(value == [1])
    try await store.flush()
    #expect(onDisk("key", of: cache) == (tag == "gone" ? nil : [1]))
    try await store.close()
  }
}
