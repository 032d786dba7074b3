import CisternCore
import CisternTesting
import CisternTestSupport
import Locking
import Testing

/// Code that the user supplies may use the cache. A lock held during its call would deadlock these tests.
struct ReentrantUseTests {
  /// A value whose deinitializer uses its cache.
  private final class Parting: Sendable {
    let name: String
    let cache: @Sendable () -> Cache<String, Parting>?

    init(_ name: String, _ cache: @escaping @Sendable () -> Cache<String, Parting>?) {
      self.name = name
      self.cache = cache
    }

    deinit {
      guard let cache = cache(), name != "last" else { return }
      _ = cache[name]
      _ = cache["a"]
      cache["parted"] = Parting("last") { nil }
      cache[name] = nil
    }
  }

  /// Gives user-supplied code access to the cache that calls it.
  private final class Reference<Element: Sendable>: Sendable {
    private let element = Guarded<Element?>(nil)
    var value: Element? { element.withLock { $0 } }
    func set(_ value: Element?) {
      // The old element must not be freed inside the lock.
      let old = element.withLock { element in
        defer { element = value }
        return element
      }
      withExtendedLifetime(old) {}
    }
  }

  @Test func `the deinitializer of a value may use the cache, for every kind of removal`() async throws {
    let reference = Reference<Cache<String, Parting>>()
    let cache = try Cache<String, Parting>(costLimit: 3)
    reference.set(cache)
    let make: @Sendable (String) -> Parting = { name in Parting(name) { reference.value } }
    cache["a"] = make("a")
    cache["a"] = make("a")
    cache["a"] = nil
    for index in 0..<50 { cache["key \(index)"] = make("key \(index)") }
    cache.trim(toCost: 1)
    cache.removeAll()
    cache.setValue(make("b"), forKey: "b", expiry: .after(.zero))
    _ = try await cache.value(forKey: "c") { make($0) }
    _ = try await cache.value(forKey: "c", expiry: .never) { make($0) }
    cache["c"] = nil
    #expect(cache.checkInvariants() == [])
    reference.set(nil)
  }

  @Test func `a weigher, fetch and observer may use the cache`() throws {
    try SeededSchedule.explore(seeds: 100) { executor in
      let reference = Reference<Cache<String, Int>>()
      let meddle: @Sendable () -> Void = {
        guard let cache = reference.value else { return }
        _ = cache["a"]
        _ = cache.statistics
        cache["b"] = nil
      }
      var configuration: Store.Configuration = .ignoringMemoryPressure
      configuration.taskExecutor = executor
      let cache = try Cache<String, Int>(
        costLimit: 100,
        weigher: { value in
          meddle()
          return value
        }, configuration: configuration)
      reference.set(cache)
      let heard = Recorder<Int?>()
      let token = cache.observe { change in
        meddle()
        if change.key == "a" { cache["observed"] = change.value }
        heard.record(change.value)
      }
      cache["a"] = 5
      cache["b"] = 6
      let fetched = try await cache.value(forKey: "c") { _ in
        meddle()
        cache["a"] = 7
        return try await cache.value(forKey: "d") { _ in 8 }
      }
      try #require(fetched == 8)
      for _ in 0..<30 { await Task.yield() }
      try #require(cache["observed"] == 7)
      try #require(cache.checkInvariants() == [])
      token.cancel()
      reference.set(nil)
    }
  }

  @Test func `a codec and a report handler may use the cache`() throws {
    struct Meddling: Codec {
      let meddle: @Sendable () -> Void
      func encode(_ value: Int) throws -> [UInt8] {
        meddle()
        if value < 0 { throw Broken() }
        return [UInt8(value)]
      }
      func decode(_ bytes: [UInt8]) throws -> Int {
        meddle()
        if bytes[0] == 0 { throw Broken() }
        return Int(bytes[0])
      }
    }
    let reference = Reference<Cache<String, Int>>()
    let tier = FaultInjectingTier()
    var configuration: Store.Configuration = .ignoringMemoryPressure
    configuration.reportHandler = { _ in _ = reference.value?["a"] }
    let store = try Store(secondTier: tier, memoryLimit: .bytes(100), configuration: configuration)
    let codec = Meddling {
      guard let cache = reference.value else { return }
      cache["a"] = nil
      _ = cache.contains("a")
      cache.trim(toCost: 0)
    }
    let cache = try store.cache("meddling", codec: codec, keyedBy: String.self)
    reference.set(cache)
    cache["b"] = 1
    cache.trim(toCost: 0)
    #expect(cache["b"] == 1)
    cache["c"] = -1
    cache["d"] = 0
    cache.trim(toCost: 0)
    #expect(cache["d"] == nil)
    #expect(cache.checkInvariants() == [])
    reference.set(nil)
  }

  @Test func `the body that reads a value's bytes may use the cache`() throws {
    let store = try Store(secondTier: FaultInjectingTier(), memoryLimit: .bytes(100))
    let cache = try store.cache("bytes", of: [UInt8].self, keyedBy: String.self)
    cache["a"] = [1, 2, 3]
    let count = cache.withBytes(forKey: "a") { bytes in
      cache["a"] = [4]
      cache["b"] = [5]
      cache["a"] = nil
      return bytes.byteCount
    }
    #expect(count == 3)
    #expect(cache["a"] == nil)
  }
}
