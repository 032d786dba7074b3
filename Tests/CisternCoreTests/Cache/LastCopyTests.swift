import CisternTesting
import CisternTestSupport
import Testing

@testable import CisternCore

/// The removal of the last copy of a value is announced.
@Suite struct LastCopyTests {
  @Test func `an eviction from memory after the store was closed is announced`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Subject(.twoTiers, on: executor)
      let tier = try #require(subject.tier)
      subject.cache["a"] = 1
      let changes = Recorder<String>()
      let token = subject.cache.observe { changes.record("\($0.event)") }
      subject.cache.trim(toCost: 0)
      try #require(subject.cache["a"] == 1)
      try await tier.close()
      try #require(subject.cache["a"] == 1)
      subject.cache.trim(toCost: 0)
      try #require(subject.cache["a"] == nil)
      while changes.count < 1 { await Task.yield() }
      for _ in 0..<20 { await Task.yield() }
      try #require(changes.elements == ["removed(\"a\", CisternCore.RemovalCause.evicted)"])
      token.cancel()
    }
  }

  @Test(arguments: [false, true])
  func `a record that is lost while a load reads it is returned and not kept, with and without an observer`(
    isObserved: Bool
  ) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let tier = FaultInjectingTier(losses: .onDemand, taskExecutor: executor)
      let subject = try Subject(.twoTiers, on: executor, tier: tier)
      subject.cache["a"] = 1
      subject.cache.trim(toCost: 0)
      let changes = Recorder<String>()
      subject.cache["b"] = 2
      let token = isObserved ? subject.cache.observe(.key("a")) { changes.record("\($0.event)") } : nil
      // The eviction comes between the read and the promotion by the load.
      tier.setAfterLoad { _ in
        tier.setAfterLoad(nil)
        tier.evict("a", from: Subject.partition)
        tier.deliverLosses()
      }
      try #require(try await subject.value("a") { _ in 3 } == 1)
      try #require(subject.cache["a"] == nil)
      if isObserved {
        while changes.count < 1 { await Task.yield() }
        try #require(changes.elements == ["removed(\"a\", CisternCore.RemovalCause.evicted)"])
      }
      try #require(subject.findings == [])
      token?.cancel()
    }
  }

  @Test func `a record that is lost while a load reads it makes no room in memory`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let tier = FaultInjectingTier(losses: .onDemand, taskExecutor: executor)
      let subject = try Subject(.twoTiers, on: executor, memoryLimit: 16, tier: tier)
      let cache = subject.cache
      cache.setValue(1, forKey: "a", expiry: .after(.seconds(1), graceStale: .seconds(60)))
      subject.clock.advance(by: .seconds(2))
      cache.trim(toCost: 0)
      cache["b"] = 2
      cache["c"] = 3
      let evictions = cache.statistics.evictionsByCost
      tier.setAfterLoad { _ in
        tier.setAfterLoad(nil)
        tier.evict("a", from: Subject.partition)
      }
      // A stale value must be in memory for other loads, so the policy is not asked.
      try #require(try await subject.value("a", policy: .freshElseStale) { _ in throw Broken() } == 1)
      try #require(cache.statistics.evictionsByCost == evictions)
      let hits = cache.statistics.memoryHits
      try #require(cache["b"] == 2 && cache["c"] == 3)
      try #require(cache.statistics.memoryHits == hits + 2)
      tier.deliverLosses()
      try #require(subject.findings == [])
    }
  }

  @Test func `a record that is lost while a look-up reads it raises no write version`() throws {
    let tier = FaultInjectingTier(losses: .onDemand)
    let store = try Store(secondTier: tier, memoryLimit: .mebibytes(1))
    let cache = try store.cache("numbers", of: Int.self, keyedBy: String.self)
    cache["a"] = 1
    cache.trim(toCost: 0)
    func version() -> WriteVersion? {
      let key = cache.table.hashed("a")
      guard case .absent(let stamp, _) = cache.table.lookUp("a", hash: key.hash, at: MonotonicTime(nanoseconds: 0))
      else {
        return nil
      }
      return stamp
    }
    let before = try #require(version())
    tier.setAfterLoad { _ in
      tier.setAfterLoad(nil)
      tier.evict("a", from: "numbers")
    }
    #expect(cache["a"] == 1)
    #expect(version() == before)
    tier.deliverLosses()
  }

  /// A key that runs code when it is compared.
  private struct WatchedKey: CacheKey {
    let text: String
    let onComparison: Recorder<@Sendable () -> Void>?

    init(_ text: String, onComparison: Recorder<@Sendable () -> Void>? = nil) {
      self.text = text
      self.onComparison = onComparison
    }

    static func == (left: WatchedKey, right: WatchedKey) -> Bool {
      (left.onComparison ?? right.onComparison)?.elements.last?()
      return left.text == right.text
    }

    func hash(into hasher: inout Hasher) { hasher.combine(text) }

    func withKeyBytes<Result>(_ body: (RawSpan) throws -> Result) rethrows -> Result { try text.withKeyBytes(body) }

    init?(keyBytes: RawSpan) {
      guard let text = String(keyBytes: keyBytes) else { return nil }
      self.init(text)
    }
  }

  @Test func `a record that is lost at the beginning of its promotion is not kept`() async throws {
    let tier = FaultInjectingTier(losses: .onDemand)
    let store = try Store(secondTier: tier, memoryLimit: .mebibytes(1))
    let cache = try store.cache("numbers", of: Int.self, keyedBy: WatchedKey.self)
    let actions = Recorder<@Sendable () -> Void>()
    let key = WatchedKey("a", onComparison: actions)
    cache[key] = 1
    cache.trim(toCost: 0)
    // The promotion compares the key with that of its flight, inside the critical section. Before, no record was lost,
    // so that the bytes of the key were not made.
    tier.setAfterLoad { _ in
      tier.setAfterLoad(nil)
      actions.record { tier.evict("a", from: "numbers") }
    }
    #expect(try await cache.value(forKey: key) { _ in 2 } == 1)
    #expect(actions.count == 1)
    #expect(cache[WatchedKey("a")] == nil)
    tier.deliverLosses()
    #expect(cache[WatchedKey("a")] == nil)
  }
}
