import CisternCore
import CisternTesting
import CisternTestSupport
import Testing

/// A load whose fetch fails or takes too long does not return an older value that was removed or replaced during the
/// fetch.
struct RemovedFallbackTests {
  private struct Down: Error {}

  /// The load that has an older value as its fallback.
  enum Kind: CaseIterable, Sendable {
    case failing, timingOut, timingOutSoftly, bulk

    var timesOut: Bool { self == .timingOut || self == .timingOutSoftly }

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
    case none, removal, tag, prefix, clear, set, edit, editOfOther, removingEdit, eviction, fetchAnew,
      removalAfterFetchAnew, setAfterFetchAnew

    /// Applies the operation. An edit or a fetch ends when the gate opens.
    func apply(to cache: Cache<String, Int>, _ gate: Gate) async -> Task<Int?, any Error>? {
      switch self {
      case .none: break
      case .removal: cache["key"] = nil
      case .tag: cache.removeAll(tagged: "tag")
      case .prefix: cache.removeAll(withPrefix: "k")
      case .clear: cache.removeAll()
      case .set: cache["key"] = 2
      case .edit, .editOfOther, .removingEdit:
        let (key, shown) = (self == .editOfOther ? "other" : "key", self == .removingEdit ? nil : 2)
        let edit = Task {
          try await cache.editValue(forKey: key) { _ in
            shown
          } confirmedBy: {
            await gate.passUncancelled()
            return nil
          }
        }
        await gate.arrivals(atLeast: 1)
        return edit
      case .eviction: cache.trim(toCost: 0)
      case .fetchAnew, .removalAfterFetchAnew, .setAfterFetchAnew:
        let fetch = Task<Int?, any Error> {
          try await cache.value(forKey: "key", policy: .fetchAnew) { _ in
            await gate.passUncancelled()
            return 3
          }
        }
        await gate.arrivals(atLeast: 1)
        if self == .removalAfterFetchAnew { cache["key"] = nil }
        if self == .setAfterFetchAnew { cache["key"] = 2 }
        return fetch
      }
      return nil
    }

    /// Whether a load has a value when its soft timeout has passed.
    var hasValueAtSoftTimeout: Bool { valueAfterFailure != nil }

    /// The value that a load returns whose fetch has failed. A set takes the key from the load.
    var valueAfterFailure: Int? { self == .set || self == .setAfterFetchAnew ? nil : value }

    /// The value that a look-up finds after the operation.
    var value: Int? {
      switch self {
      case .none, .editOfOther, .eviction, .fetchAnew: 1
      case .set, .edit, .setAfterFetchAnew: 2
      case .removal, .tag, .prefix, .clear, .removingEdit, .removalAfterFetchAnew: nil
      }
    }

    /// The fresh value at the end.
    var lastValue: Int? {
      switch self {
      case .set, .edit, .setAfterFetchAnew: 2
      case .fetchAnew: 3
      default: nil
      }
    }
  }

  private func load(_ kind: Kind, _ cache: Cache<String, Int>, _ gate: Gate) async throws -> Int? {
    if kind == .bulk {
      let loaded = try await cache.values(forKeys: ["key"], policy: kind.policy) { _ in
        try await gate.pass()
        throw Down()
      }
      return loaded.values["key"]
    }
    let loaded = try? await cache.loadedValue(forKey: "key", policy: kind.policy) { _ in
      try await gate.pass()
      throw Down()
    }
    guard let loaded else { return nil }
    #expect(loaded.isStale == (loaded.value == 1))
    return loaded.value
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
    let (gate, editGate) = (Gate(), Gate())
    async let loading = load(kind, cache, gate)
    await gate.arrivals(atLeast: 1)
    let edit = await interruption.apply(to: cache, editGate)
    switch kind {
    case .failing, .bulk: gate.open()
    case .timingOut, .timingOutSoftly:
      while clock.sleeperCount < 1 { await Task.yield() }
      clock.advance(by: .seconds(5))
      if kind == .timingOutSoftly, !interruption.hasValueAtSoftTimeout {
        while clock.sleeperCount < 1 { await Task.yield() }
        clock.advance(by: .seconds(4))
      }
    }
    #expect(try await loading == (kind.timesOut ? interruption.value : interruption.valueAfterFailure))
    gate.open()
    editGate.open()
    _ = try await edit?.value
    #expect(cache["key"] == interruption.lastValue)
  }
}
