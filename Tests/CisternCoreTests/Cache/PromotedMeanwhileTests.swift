import CisternTesting
import CisternTestSupport
import Testing

@testable import CisternCore

/// A value that moves into memory, and out of the second tier, between the two looks of a reader.
struct PromotedMeanwhileTests {
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

  private func cache() throws -> (FaultInjectingTier, Cache<String, Int>) {
    let tier = FaultInjectingTier(losses: .onDemand)
    let store = try Store(secondTier: tier, memoryLimit: .mebibytes(1))
    let cache = try store.cache("numbers", of: Int.self, keyedBy: String.self)
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
