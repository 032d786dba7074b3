import Cistern
import CisternTestSupport
import CisternTesting
import Locking
import Testing

@testable import CisternCore

/// Enumerations beside promotions and evictions on disk, on real threads.
@Suite(.serialized) struct LostDuringEnumerationThreadsTests {
  @Test(arguments: 0..<3 as Range<UInt64>)
  func `keys that never end appear once in each enumeration`(seed: UInt64) async throws {
    let scratch = TemporaryDirectory()
    let store = try Store(
      directory: scratch.store, memoryLimit: .mebibytes(64), diskLimit: .mebibytes(1),
      configuration: .ignoringMemoryPressure)
    let cache = try store.cache("cache", of: [UInt8].self, keyedBy: String.self)
    let kept = Set((0..<300).map { "kept/\($0)" })
    for key in kept { cache[key] = [UInt8](repeating: 1, count: 300) }
    try await store.flush()
    cache.trim(toCost: 0)
    let removed = Guarded<Set<String>>([])
    let token = cache.observe { change in
      if case .removed(let key, _) = change.event { _ = removed.withLock { $0.insert(key) } }
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        var generator = SeededGenerator(seed: seed)
        // The order of a set differs in each process.
        for key in kept.sorted().shuffled(using: &generator) where !Task.isCancelled {
          _ = cache[key]
          await Task.yield()
        }
      }
      group.addTask {
        for number in 0..<3000 where !Task.isCancelled {
          await cache.setValueWithoutBlocking([UInt8](repeating: 2, count: 400), forKey: "other/\(seed)/\(number)")
        }
      }
      for _ in 0..<10 {
        var keys: [String] = []
        var walk = try EntryWalk(cache, .withPrefix(KeyPrefix("kept/")), after: nil)
        while !walk.isAtEnd {
          keys += try walk.nextEntries(limit: 16).map(\.key)
          await Task.yield()
        }
        let found = Set(keys)
        #expect(found.count == keys.count, "a key appears twice")
        // The flush returns after every loss is reported, and the marker after every change is delivered.
        try await store.flush()
        cache["end"] = [1]
        cache["end"] = nil
        while removed.withLock({ $0.remove("end") }) == nil { await Task.yield() }
        let missing = kept.subtracting(found).subtracting(removed.withLock { $0 })
        #expect(missing.isEmpty, "missing: \(missing.prefix(5))")
      }
      group.cancelAll()
      try await group.waitForAll()
    }
    token.cancel()
    try await store.close()
  }
}
