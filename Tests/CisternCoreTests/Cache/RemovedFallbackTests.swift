import CisternCore
import CisternTesting
import CisternTestSupport
import Testing

/// A load whose fetch fails or takes too long does not return an older value that was removed or replaced during the fetch.
struct RemovedFallbackTests {
  private struct Down: Error {}

  /// The load that has an older value as its fallback.
  enum Kind: CaseIterable, Sendable {
    case failing, timingOut, timingOutSoftly, bulk

    var policy: LoadPolicy {
      switch self {
      case .failing, .bulk: .freshElseStale
      case .timingOut: .freshElseStale.timingOut(after: .seconds(5))
      case .timingOutSoftly: .freshElseStale.returningStale(after: .seconds(5)).timingOut(after: .seconds(9))
      }
    }
  }

  /// An operation during the fetch.
  enum Interruption: CaseIterable, Sendable {
    case none, removal, tag, prefix, clear, set, eviction

    func apply(to cache: Cache<String, Int>) {
      switch self {
      case .none: break
      case .removal: cache["key"] = nil
      case .tag: cache.removeAll(tagged: "tag")
      case .prefix: cache.removeAll(withPrefix: "k")
      case .clear: cache.removeAll()
      case .set: cache["key"] = 2
      case .eviction: cache.trim(toCost: 0)
      }
    }

    /// Whether the older value can still be found.
    var keepsValue: Bool { self == .none || self == .eviction }
  }

  private func load(_ kind: Kind, _ cache: Cache<String, Int>, _ gate: Gate) async throws -> Int? {
    if kind == .bulk {
      let loaded = try await cache.values(forKeys: ["key"], policy: kind.policy) { _ in
        try await gate.pass()
        throw Down()
      }
      return loaded.values["key"]
    }
    return try? await cache.value(forKey: "key", policy: kind.policy) { _ in
      try await gate.pass()
      throw Down()
    }
  }

  @Test(arguments: Kind.allCases, Interruption.allCases)
  func `a fallback that was removed or replaced during the fetch is not returned`(
    kind: Kind, interruption: Interruption
  ) async throws {
    let clock = ManualClock()
    var configuration: Store.Configuration = .ignoringMemoryPressure
    configuration.clock = clock
    let store = try Store.inMemory(memoryLimit: .mebibytes(1), configuration: configuration)
    let cache = try store.cache("cache", of: Int.self, keyedBy: String.self)
    cache.setValue(1, forKey: "key", expiry: .after(.seconds(1), graceStale: .seconds(100)), tags: ["tag"])
    clock.advance(by: .seconds(2))
    let gate = Gate()
    async let loading = load(kind, cache, gate)
    await gate.arrivals(atLeast: 1)
    interruption.apply(to: cache)
    switch kind {
    case .failing, .bulk: gate.open()
    case .timingOut, .timingOutSoftly:
      while clock.sleeperCount < 1 { await Task.yield() }
      clock.advance(by: .seconds(5))
      if kind == .timingOutSoftly, !interruption.keepsValue {
        while clock.sleeperCount < 1 { await Task.yield() }
        clock.advance(by: .seconds(4))
      }
    }
    #expect(try await loading == (interruption.keepsValue ? 1 : nil))
    gate.open()
    #expect(cache["key"] == (interruption == .set ? 2 : nil))
  }
}
