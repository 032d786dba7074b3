import CisternTesting
import Locking
import Testing

@testable import Cistern

/// What look-ups find, and leave behind, that share their shard with others.
struct SharedLookUpTests {
  private let clock = ManualClock()

  /// Of one shard.
  private func cache(
    _ policy: EvictionPolicyKind = .s3FIFO, taskExecutor: (any TaskExecutor)? = nil
  ) throws -> Cache<String, Int> {
    var configuration = Store.Configuration()
    configuration.evictionPolicy = policy
    configuration.taskExecutor = taskExecutor
    configuration.clock = clock
    configuration.shardCount = 1
    return try Cache(countLimit: 20, configuration: configuration)
  }

  private func isShared(_ cache: Cache<String, Int>) -> Bool {
    cache.table.shards.isSharable(at: 0)
  }

  /// Looks something else up until whoever does so shares the shard.
  private func share(_ cache: Cache<String, Int>) {
    cache.setValue(0, forKey: "other")
    for _ in 0..<ReaderBiasedLock.readsToBias { _ = cache.value(forKey: "other") }
    #expect(isShared(cache))
  }

  @Test func `a hit is counted, and leaves the shard shared`() throws {
    let cache = try cache()
    cache.setValue(1, forKey: "a")
    share(cache)
    for _ in 0..<10 { #expect(cache.value(forKey: "a") == 1) }
    #expect(isShared(cache))
    #expect(cache.statistics.memoryHits == 10 + Int(ReaderBiasedLock.readsToBias))
  }

  @Test func `asking whether a key is there leaves the shard shared, and counts for nothing`() throws {
    let cache = try cache()
    cache.setValue(1, forKey: "a", tags: ["tag"])
    share(cache)
    #expect(cache.contains("a"))
    #expect(!cache.contains("b"))
    #expect(isShared(cache))
    #expect(cache.statistics.memoryHits == Int(ReaderBiasedLock.readsToBias))
  }

  @Test func `asking for an invalidated key finds nothing, before the sweep and after it`() throws {
    // The sweep takes the shard alone. This executor runs it only while the test's own task is suspended.
    try SeededExecutor.run(seed: 0) { executor in
      let cache = try cache(taskExecutor: executor)
      for key in ["a", "not looked up"] { cache.setValue(1, forKey: key, tags: ["tag"]) }
      cache.setValue(2, forKey: "b")
      cache.removeAll(tagged: "tag")
      share(cache)
      #expect(!cache.contains("a"))
      #expect(cache.contains("other"))
      // The look-up took one invalidated value out, and the sweep takes the other.
      #expect(cache.statistics.memory.entryCount == 3)
      while cache.statistics.memory.entryCount > 2 { await Task.yield() }
      share(cache)
      #expect(!cache.contains("a"))
      #expect(cache.contains("b") && cache.contains("other"))
      #expect(isShared(cache))
    }
  }

  @Test func `a hit counts for eviction`() throws {
    let cache = try cache()
    for number in 0..<19 { cache.setValue(1, forKey: "\(number)") }
    share(cache)
    for _ in 0..<3 { #expect(cache.value(forKey: "0") == 1) }
    for number in 20..<30 { cache.setValue(1, forKey: "\(number)") }
    #expect(cache.value(forKey: "0") == 1)
    #expect(cache.value(forKey: "1") == nil)
  }

  @Test func `a policy that hears of each hit has the shard to itself`() throws {
    let cache = try cache(.lru)
    for number in 0..<20 { cache.setValue(1, forKey: "\(number)") }
    for _ in 0..<1000 { #expect(cache.value(forKey: "0") == 1) }
    #expect(!isShared(cache))
    for number in 20..<30 { cache.setValue(1, forKey: "\(number)") }
    #expect(cache.value(forKey: "0") == 1)
  }

  @Test func `a set and a removal are seen at once`() throws {
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

  @Test func `a value past its time is not found, and goes`() throws {
    let cache = try cache()
    cache.setValue(1, forKey: "a", expiry: .after(.seconds(10)))
    share(cache)
    #expect(cache.value(forKey: "a") == 1)
    clock.advance(by: .seconds(10))
    share(cache)
    #expect(cache.value(forKey: "a") == nil)
    #expect(cache.statistics.expirations == 1)
  }

  @Test func `what was invalidated is not found`() throws {
    let cache = try cache()
    cache.setValue(1, forKey: "a", tags: ["tag"])
    cache.setValue(2, forKey: "b")
    share(cache)
    #expect(cache.value(forKey: "a") == 1)
    // The sweep that follows wants the shard alone now and then.
    cache.removeAll(tagged: "tag")
    #expect(cache.value(forKey: "a") == nil)
    #expect(cache.value(forKey: "b") == 2)
  }

  @Test func `a fresh value with tags or grace is found without the shard alone, a stale one not`() throws {
    let cache = try cache()
    cache.setValue(1, forKey: "a", expiry: .after(.seconds(10), graceStale: .seconds(60)), tags: ["tag"])
    share(cache)
    #expect(cache.value(forKey: "a") == 1)
    #expect(isShared(cache))
    clock.advance(by: .seconds(20))
    #expect(cache.value(forKey: "a") == nil)
    #expect(!isShared(cache))
  }

  @Test func `a value with an idle time is used by every hit`() throws {
    let cache = try cache()
    cache.setValue(1, forKey: "a", expiry: .idle(.seconds(10)))
    for _ in 0..<10 {
      share(cache)
      clock.advance(by: .seconds(6))
      #expect(cache.value(forKey: "a") == 1)
    }
  }
}
