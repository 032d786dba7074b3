import Cistern
import CisternTestSupport
import CisternTesting
import Foundation
import Testing

/// Removal by tag from all caches of a store in a directory, or over a custom tier.
@Suite(.serialized) struct StoreRemovalOnDiskTests {
  private func open(_ scratch: TemporaryDirectory) throws -> Store {
    var configuration: Store.Configuration = .ignoringMemoryPressure
    configuration.durability = .processCrash
    return try Store(
      directory: scratch.store, memoryLimit: .mebibytes(4), diskLimit: .mebibytes(16), configuration: configuration)
  }

  private func cache(_ name: String, in store: Store) throws -> Cache<String, [UInt8]> {
    try store.cache(name, of: [UInt8].self, keyedBy: String.self)
  }

  @Test func `a removal from the store reaches caches that this process has not opened`() async throws {
    let scratch = TemporaryDirectory()
    let first = try open(scratch)
    for name in ["one", "two"] {
      let cache = try cache(name, in: first)
      cache.setValue([1], forKey: "a", tags: ["gone"])
      cache.setValue([2], forKey: "b", tags: ["kept"])
    }
    try await first.close()
    let second = try open(scratch)
    let one = try cache("one", in: second)
    #expect(one["a"] == [1])
    try await second.commitRemovalOfAll(tagged: "gone")
    #expect(one["a"] == nil && one["b"] == [2])
    try await second.close()
    await #expect(throws: CisternError.self) { try await second.commitRemovalOfAll(tagged: "kept") }
    // The cache of a closed store continues in memory.
    #expect(one["b"] == nil)
    let third = try open(scratch)
    for name in ["one", "two"] {
      let cache = try cache(name, in: third)
      #expect(cache["a"] == nil && cache["b"] == [2])
    }
    #expect(third.reports.isEmpty)
    try await third.close()
  }

  @Test func `another process's removal from its store reaches all caches of the directory`() async throws {
    let scratch = TemporaryDirectory()
    let store = try open(scratch)
    let caches = try ["cache", "not open there"].map { try cache($0, in: store) }
    for cache in caches {
      cache.setValue([1], forKey: "a", tags: ["gone"])
      cache.setValue([2], forKey: "b", tags: ["kept"])
    }
    try await store.flush()
    let started = Switch<Bool>()
    let invalidated = Switch<Bool>()
    // The fetch of this value begins before the removal.
    let load = Task {
      try await caches[1].value(forKey: "c", tags: ["gone"]) { _ in
        started.set(true)
        while invalidated.peek() == nil { await Task.yield() }
        return [3]
      }
    }
    while started.peek() == nil { await Task.yield() }
    let child = try ChildProcess("purge-all", scratch.store, "\(16 << 20)", "processCrash")
    #expect(child.readLine() == "invalidated")
    invalidated.set(true)
    #expect(try await load.value == [3])
    try await store.flush()
    for cache in caches {
      cache.trim(toCost: 0)
      #expect(cache["a"] == nil && cache["b"] == [2] && cache["c"] == nil)
    }
    _ = child.kill()
    try await store.close()
  }

  @Test func `after SIGKILL at any point all caches have a removal from the store, or none has it`() async throws {
    let scratch = TemporaryDirectory()
    var generator = SeededGenerator(seed: 8)
    for round in 0..<6 {
      let child = try ChildProcess("invalidate-all", scratch.store, "\(16 << 20)", "processCrash")
      let last = child.kill(afterLines: Int.random(in: 1...30, using: &generator))
      #expect(last > 0)
      let store = try open(scratch)
      let found = try ["cache", "second", "third"].map { try cache($0, in: store)["key"] }
      #expect(Set(found).count == 1, "round \(round): \(found), after \(last)")
      // The removal after the last line's value is on disk. The process prints a line after each third value.
      if let bytes = found[0] {
        let isNewer = (last + 1...last + 3).contains { number in
          bytes == [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 1 + number % 3000)
        }
        #expect(isNewer, "round \(round): \(bytes.count) bytes of \(bytes.prefix(1)), after \(last)")
      }
      try await store.close()
    }
  }

  @Test func `a removal from the store removes from each open cache over a custom tier`() async throws {
    let scratch = TemporaryDirectory()
    try FileManager.default.createDirectory(atPath: scratch.store, withIntermediateDirectories: true)
    let tier = try FileTier(file: URL(fileURLWithPath: scratch.store).appendingPathComponent("records"))
    let store = try Store(secondTier: tier, memoryLimit: .mebibytes(1))
    let caches = try ["one", "two"].map { try cache($0, in: store) }
    for cache in caches {
      cache.setValue([1], forKey: "a", tags: ["gone"])
      cache.setValue([2], forKey: "b", tags: ["kept"])
    }
    try await store.commitRemovalOfAll(tagged: "gone")
    for cache in caches {
      cache.trim(toCost: 0)
      #expect(cache["a"] == nil && cache["b"] == [2])
    }
    try await store.close()
  }
}

/// Removal by tag from all caches of a store, on real threads.
@Suite struct StoreRemovalThreadsTests {
  @Test func `no cache returns an older value after a removal from the store, also one opened during it`() async throws
  {
    let scratch = TemporaryDirectory()
    let rounds = 60
    let writing = try Store(directory: scratch.store, memoryLimit: .mebibytes(4), diskLimit: .mebibytes(16))
    for round in 0..<rounds {
      try writing.cache("cache \(round)", of: Int.self, keyedBy: String.self).setValue(1, forKey: "a", tags: ["news"])
    }
    try await writing.close()
    let store = try Store(directory: scratch.store, memoryLimit: .mebibytes(4), diskLimit: .mebibytes(16))
    for round in 0..<rounds {
      // Both tasks begin at once, and the reader opens the cache before, during or after the removal.
      async let opened = Task.detached {
        let cache = try store.cache("cache \(round)", of: Int.self, keyedBy: String.self)
        _ = cache["a"]
        return cache
      }.value
      async let removed: Void = Task.detached { store.removeAll(tagged: "news") }.value
      let cache = try await opened
      await removed
      #expect(cache["a"] == nil, "round \(round)")
      cache.setValue(2, forKey: "a", tags: ["more"])
      #expect(cache["a"] == 2 && cache.checkInvariants() == [])
    }
    try await store.close()
  }
}
