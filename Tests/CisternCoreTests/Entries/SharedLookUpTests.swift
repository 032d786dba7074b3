import CisternTestSupport
import CisternTesting
import Locking
import Testing

@testable import CisternCore

/// The results and side effects of lookups that share a shard with other readers.
struct SharedLookUpTests {
  private let clock = ManualClock()

  /// Creates a cache with one shard.
  private func cache(
    _ policy: EvictionPolicyKind = .s3FIFO, taskExecutor: (any TaskExecutor)? = nil
  ) throws -> Cache<String, Int> {
    var configuration: Store.Configuration = .ignoringMemoryPressure
    configuration.evictionPolicy = policy
    configuration.taskExecutor = taskExecutor
    configuration.clock = clock
    configuration.shardCount = 1
    return try Cache(countLimit: 20, configuration: configuration)
  }

  private func isShared(_ cache: Cache<String, Int>) -> Bool {
    cache.table.shards.isSharable(at: 0)
  }

  /// Looks up another key until readers share the shard.
  private func share(_ cache: Cache<String, Int>) {
    cache.setValue(0, forKey: "other")
    for _ in 0..<ReaderBiasedLock.readsToBias { _ = cache.value(forKey: "other") }
    #expect(isShared(cache))
  }

  @Test func `a hit is counted and keeps the shard shared`() throws {
    let cache = try cache()
    cache.setValue(1, forKey: "a")
    share(cache)
    for _ in 0..<10 { #expect(cache.value(forKey: "a") == 1) }
    #expect(isShared(cache))
    #expect(cache.statistics.memoryHits == 10 + Int(ReaderBiasedLock.readsToBias))
  }

  @Test func `a containment check keeps the shard shared and is not counted`() throws {
    let cache = try cache()
    cache.setValue(1, forKey: "a", tags: ["tag"])
    share(cache)
    #expect(cache.contains("a"))
    #expect(!cache.contains("b"))
    #expect(isShared(cache))
    #expect(cache.statistics.memoryHits == Int(ReaderBiasedLock.readsToBias))
  }

  @Test func `an invalidated key is absent both before and after the sweep`() throws {
    // The sweep needs exclusive access to the shard. This executor runs it only while the test's own task is
    // suspended.
    try SeededExecutor.run(seed: 0) { executor in
      let cache = try cache(taskExecutor: executor)
      for key in ["a", "not looked up"] { cache.setValue(1, forKey: key, tags: ["tag"]) }
      cache.setValue(2, forKey: "b")
      cache.removeAll(tagged: "tag")
      share(cache)
      #expect(!cache.contains("a"))
      #expect(cache.contains("other"))
      // The containment check removed one invalidated value, and the sweep removes the other.
      #expect(cache.statistics.memory.entryCount == 3)
      while cache.statistics.memory.entryCount > 2 { await Task.yield() }
      share(cache)
      #expect(!cache.contains("a"))
      #expect(cache.contains("b") && cache.contains("other"))
      #expect(isShared(cache))
    }
  }

  @Test func `a hit in a shared shard counts as a use for eviction`() throws {
    let cache = try cache()
    for number in 0..<19 { cache.setValue(1, forKey: "\(number)") }
    share(cache)
    for _ in 0..<3 { #expect(cache.value(forKey: "0") == 1) }
    for number in 20..<30 { cache.setValue(1, forKey: "\(number)") }
    #expect(cache.value(forKey: "0") == 1)
    #expect(cache.value(forKey: "1") == nil)
  }

  @Test func `a policy that records each hit does not share the shard`() throws {
    let cache = try cache(.lru)
    for number in 0..<20 { cache.setValue(1, forKey: "\(number)") }
    for _ in 0..<1000 { #expect(cache.value(forKey: "0") == 1) }
    #expect(!isShared(cache))
    for _ in 0..<1000 { #expect(cache.value(forKey: "absent") == nil) }
    #expect(!isShared(cache))
    for number in 20..<30 { cache.setValue(1, forKey: "\(number)") }
    #expect(cache.value(forKey: "0") == 1)
  }

  @Test func `sets and removals are visible immediately in a shared shard`() throws {
    let cache = try cache()
    cache.setValue(1, forKey: "a")
    share(cache)
    #expect(cache.value(forKey: "a") == 1)
    cache.setValue(2, forKey: "a")
    share(cache)
    #expect(cache.value(forKey: "a") == 2)
    cache.removeValue(forKey: "a")
    share(cache)
    #expect(cache.value(forKey: "a") == nil)
  }

  @Test func `an expired value is not found and is removed`() throws {
    let cache = try cache()
    cache.setValue(1, forKey: "a", expiry: .after(.seconds(10)))
    share(cache)
    #expect(cache.value(forKey: "a") == 1)
    clock.advance(by: .seconds(10))
    share(cache)
    #expect(cache.value(forKey: "a") == nil)
    #expect(cache.statistics.expirations == 1)
  }

  @Test func `stale hits do not lead to a shared shard, which the next one would end`() throws {
    let cache = try cache()
    cache.setValue(1, forKey: "a", expiry: .after(.seconds(10), graceStale: .seconds(3600)))
    clock.advance(by: .seconds(20))
    for _ in 0..<1000 { #expect(cache.value(forKey: "a", staleUpTo: .seconds(3600)) == 1) }
    #expect(!isShared(cache))
  }

  @Test func `hits that note the use of an idle value do not lead to a shared shard`() throws {
    let cache = try cache()
    cache.setValue(1, forKey: "a", expiry: .idle(.seconds(10)))
    for _ in 0..<1000 { #expect(cache.value(forKey: "a") == 1) }
    #expect(!isShared(cache))
  }

  @Test func `an invalidated value is not found`() throws {
    let cache = try cache()
    cache.setValue(1, forKey: "a", tags: ["tag"])
    cache.setValue(2, forKey: "b")
    share(cache)
    #expect(cache.value(forKey: "a") == 1)
    // The sweep that follows sometimes needs exclusive access to the shard.
    cache.removeAll(tagged: "tag")
    #expect(cache.value(forKey: "a") == nil)
    #expect(cache.value(forKey: "b") == 2)
  }

  @Test func `a fresh value with tags and grace is found in a shared shard, and a stale one is not`() throws {
    let cache = try cache()
    cache.setValue(1, forKey: "a", expiry: .after(.seconds(10), graceStale: .seconds(60)), tags: ["tag"])
    share(cache)
    #expect(cache.value(forKey: "a") == 1)
    #expect(isShared(cache))
    clock.advance(by: .seconds(20))
    #expect(cache.value(forKey: "a") == nil)
    #expect(!isShared(cache))
  }

  @Test func `every hit counts as a use of a value with an idle time`() throws {
    let cache = try cache()
    cache.setValue(1, forKey: "a", expiry: .idle(.seconds(10)))
    for _ in 0..<10 {
      share(cache)
      clock.advance(by: .seconds(6))
      #expect(cache.value(forKey: "a") == 1)
    }
  }
}
