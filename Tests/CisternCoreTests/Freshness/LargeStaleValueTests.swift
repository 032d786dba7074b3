import CisternTesting
import CisternTestSupport
import Synchronization
import Testing

@testable import CisternCore

/// A value in grace that only the second tier has. It is a large part of the memory limit and has one use, so that
/// memory does not admit it.
struct LargeStaleValueTests {
  private static let large = [UInt8](repeating: 7, count: 800)

  private struct Subject {
    let cache: Cache<String, [UInt8]>
    let tier: FaultInjectingTier
    let reads = Counter()

    final class Counter: Sendable {
      let value = Atomic<Int>(0)
    }
  }

  private func subject(on executor: SeededExecutor) throws -> Subject {
    let clock = ManualClock()
    let tier = FaultInjectingTier(taskExecutor: executor)
    var configuration = Store.Configuration.ignoringMemoryPressure(clock: clock, taskExecutor: executor)
    configuration.shardCount = 1
    let store = try Store(secondTier: tier, memoryLimit: .bytes(1_000), configuration: configuration)
    let cache = try store.cache("values", of: [UInt8].self, keyedBy: String.self)
    cache.setValue(Self.large, forKey: "large", expiry: .after(.seconds(60), graceStale: .seconds(600)))
    clock.advance(by: .seconds(61))
    // Small values, each read often enough that the policy knows their worth.
    for key in 0..<1_200 { cache["\(key)"] = [1] }
    for request in 0..<8_000 { _ = cache["\(request % 1_200)"] }
    let subject = Subject(cache: cache, tier: tier)
    try #require(cache.table.peek(cache.table.hashed("large")) == nil)
    tier.setAfterLoad { [reads = subject.reads] key in
      guard key == Array("large".utf8) else { return }
      // Ends a load that would retry forever.
      if reads.value.add(1, ordering: .relaxed).newValue > 50 { cache["large"] = nil }
    }
    return subject
  }

  @Test(arguments: [LoadPolicy.cachedOrFetch, .freshElseStale])
  func `a load finds the value with one read`(policy: LoadPolicy) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try subject(on: executor)
      let loaded = try await subject.cache.value(forKey: "large", policy: policy) { _ in throw Broken() }
      try #require(loaded == Self.large)
      try #require(subject.reads.value.load(ordering: .relaxed) == 1)
    }
  }

  @Test func `a bulk load finds the value with one read`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try subject(on: executor)
      let loaded = try await subject.cache.values(forKeys: ["large"]) { _ in throw Broken() }
      try #require(loaded["large"] == Self.large)
      try #require(subject.reads.value.load(ordering: .relaxed) == 1)
    }
  }

  @Test func `a lookup finds the value if it accepts its staleness, and not otherwise`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try subject(on: executor)
      try #require(subject.cache["large"] == nil)
      try #require(subject.cache.value(forKey: "large", staleUpTo: .milliseconds(500)) == nil)
      try #require(subject.cache.value(forKey: "large", staleUpTo: .seconds(600)) == Self.large)
      let loaded = try await subject.cache.value(forKey: "large", policy: .cachedOnly) { _ in throw Broken() }
      try #require(loaded == Self.large)
    }
  }
}
