import CisternTesting
import CisternTestSupport
import Testing

@testable import CisternCore

/// A value that moves into memory, and out of the second tier, between the two looks of a reader.
struct PromotionDuringReadTests {
  /// A way to ask for the value of a key without a fetch.
  enum Reading: CaseIterable, Sendable {
    case subscripting, upToAge, finding, containing, bytes, load, bulkLoad

    func isFound(in cache: Cache<String, Int>) async throws -> Bool {
      switch self {
      case .subscripting: return cache["a"] == 1
      case .upToAge: return cache.value(forKey: "a", staleUpTo: .seconds(1)) == 1
      case .finding: return cache.find("a")?.value == 1
      case .containing: return cache.contains("a")
      case .bytes: return cache.withBytes(forKey: "a") { _ in true } ?? false
      case .load:
        return try await cache.value(forKey: "a", policy: .cachedOnly) { _ in 2 } == 1
      case .bulkLoad:
        let loaded = try await cache.values(forKeys: ["a"], policy: .cachedOnly) { _ in ["a": 2] }
        return loaded["a"] == 1
      }
    }
  }

  /// A write that depends on the value of a key.
  enum DependentWrite: CaseIterable, Sendable {
    case update, edit, merge, batch

    /// Adds ten to the value.
    func perform(on cache: Cache<String, Int>) async throws {
      switch self {
      case .update: cache.updateValue(forKey: "a") { $0 = ($0 ?? 0) + 10 }
      case .edit:
        _ = try await cache.editValue(forKey: "a") {
          ($0 ?? 0) + 10
        } confirmedBy: {
          nil
        }
      case .merge: cache["a"] = 10
      case .batch: try cache.batch { $0.setValue(10, forKey: "a") }
      }
    }
  }

  private func cache(
    configuration: CacheConfiguration<Int> = CacheConfiguration()
  ) throws -> (FaultInjectingTier, Cache<String, Int>) {
    let tier = FaultInjectingTier(losses: .onDemand)
    let store = try Store(secondTier: tier, memoryLimit: .mebibytes(1))
    let cache = try store.cache("numbers", of: Int.self, keyedBy: String.self, configuration: configuration)
    cache["a"] = 1
    cache.trim(toCost: 0)
    return (tier, cache)
  }

  @Test(arguments: Reading.allCases, [false, true])
  func `a reader finds a value that is promoted and evicted on disk between its looks`(
    reading: Reading, isLossDelivered: Bool
  ) async throws {
    let (tier, cache) = try cache()
    tier.setBeforeLoad { _ in
      tier.setBeforeLoad(nil)
      #expect(cache["a"] == 1)
      tier.evict("a", from: "numbers")
      if isLossDelivered { tier.deliverLosses() }
    }
    #expect(try await reading.isFound(in: cache))
    #expect(cache.statistics.misses == 0)
    tier.deliverLosses()
  }

  @Test(arguments: DependentWrite.allCases, [false, true])
  func `a dependent write finds a value that is promoted and evicted on disk between its looks`(
    write: DependentWrite, isLossDelivered: Bool
  ) async throws {
    let (tier, cache) = try cache(configuration: CacheConfiguration(merge: { $0 + $1 }))
    tier.setBeforeLoad { _ in
      tier.setBeforeLoad(nil)
      #expect(cache["a"] == 1)
      tier.evict("a", from: "numbers")
      if isLossDelivered { tier.deliverLosses() }
    }
    try await write.perform(on: cache)
    #expect(cache["a"] == 11)
    tier.deliverLosses()
    #expect(cache.checkInvariants() == [])
  }

  @Test func `an entry of an enumeration finds a value that is promoted and evicted on disk between its looks`() throws
  {
    let (tier, cache) = try cache()
    let entry = try #require(try cache.page(limit: 1).entries.first)
    tier.setBeforeLoad { _ in
      tier.setBeforeLoad(nil)
      #expect(cache["a"] == 1)
      tier.evict("a", from: "numbers")
    }
    #expect(entry.value() == 1)
    tier.deliverLosses()
  }

  @Test(arguments: Reading.allCases)
  func `a reader finds nothing if the promoted value is removed before its second look`(reading: Reading) async throws {
    let (tier, cache) = try cache()
    tier.setBeforeLoad { _ in
      tier.setBeforeLoad(nil)
      #expect(cache["a"] == 1)
      cache["a"] = nil
    }
    switch reading {
    case .load: await #expect(throws: CisternError.self) { try await reading.isFound(in: cache) }
    default: #expect(try await !reading.isFound(in: cache))
    }
    #expect(cache["a"] == nil)
  }
}
