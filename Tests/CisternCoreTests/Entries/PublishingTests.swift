import CisternTesting
import CisternTestSupport
import Testing

@testable import CisternCore

/// The publication of fetched values in a cache whose values have no lifetime, no tags and no second tier.
struct PublishingTests {
  private static func configuration(_ policy: EvictionPolicyKind) -> Store.Configuration {
    var configuration: Store.Configuration = .ignoringMemoryPressure
    configuration.shardCount = 1
    configuration.evictionPolicy = policy
    return configuration
  }

  /// An object that uses the cache when it is released.
  private final class Visitor: Sendable {
    let onDeinit: @Sendable () -> Void

    init(onDeinit: @escaping @Sendable () -> Void) { self.onDeinit = onDeinit }

    deinit { onDeinit() }
  }

  @Test(arguments: EvictionPolicyKind.allCases)
  func `a publication makes room, and releases the evicted value outside the lock`(policy: EvictionPolicyKind)
    async throws
  {
    let cache = try Cache<Int, Visitor>(costLimit: 2, configuration: Self.configuration(policy))
    let gone = Recorder<Bool>()
    for key in 0..<5 {
      _ = try await cache.value(forKey: key) { _ in
        Visitor { [weak cache] in
          _ = cache?.contains(1)
          gone.record(true)
        }
      }
      #expect(cache.contains(key) || policy == .s3FIFO)
      #expect(cache.statistics.memory.peakCost <= 2)
    }
    while gone.count < 3 { await Task.yield() }
    #expect(gone.count == 3)
    #expect(cache.statistics.stores == 5)
  }

  /// An event during a fetch, and the value of the key after the fetch.
  enum Event: CaseIterable, Sendable {
    case nothing, set, removal, setAndRemoval, clear, prefixRemoval, otherPrefixRemoval, otherTagRemoval, otherSet

    func apply(to cache: Cache<String, Int>) {
      switch self {
      case .nothing: break
      case .set: cache["a"] = -1
      case .removal: cache["a"] = nil
      case .setAndRemoval:
        cache["a"] = -1
        cache["a"] = nil
      case .clear: cache.removeAll()
      case .prefixRemoval: cache.removeAll(withPrefix: "a")
      case .otherPrefixRemoval: cache.removeAll(withPrefix: "b")
      case .otherTagRemoval: cache.removeAll(tagged: "other")
      case .otherSet: cache["b"] = 2
      }
    }

    var left: Int? {
      switch self {
      case .nothing, .otherPrefixRemoval, .otherTagRemoval, .otherSet: 7
      case .set: -1
      case .removal, .setAndRemoval, .clear, .prefixRemoval: nil
      }
    }
  }

  /// A load of "a" that fetches 7 and waits for the gate.
  private func load(_ cache: Cache<String, Int>, gate: Gate) async -> Task<Int, any Error> {
    let load = Task {
      try await cache.value(forKey: "a") { _ in
        await gate.passUncancelled()
        return 7
      }
    }
    await gate.arrivals(atLeast: 1)
    return load
  }

  @Test(arguments: Event.allCases, [false, true])
  func `a write or an invalidation during the fetch decides whether the value is published`(
    event: Event, isObserved: Bool
  ) async throws {
    let cache = try Cache<String, Int>(costLimit: 10, configuration: Self.configuration(.leastHitDensity))
    let events = Recorder<Int>()
    let token = isObserved ? cache.observe { _ in events.record(1) } : nil
    let gate = Gate()
    let load = await load(cache, gate: gate)
    event.apply(to: cache)
    gate.open()
    #expect(try await load.value == 7)
    #expect(cache["a"] == event.left)
    let sets = [Event.set, .setAndRemoval, .otherSet].contains(event) ? 1 : 0
    #expect(cache.statistics.stores == sets + (event.left == 7 ? 1 : 0))
    // The handlers run in tasks of their own.
    if isObserved, event == .nothing { while events.count == 0 { await Task.yield() } }
    withExtendedLifetime(token) {}
  }

  @Test func `a prefix removal during a fetch wins, whether or not the sweep has come to the entry`() throws {
    try SeededSchedule.explore(seeds: 60) { executor in
      let subject = try Subject(.memory, on: executor)
      let origin = ScriptedOrigin<String, Int> { _, _ in .yielding(3, .value(7)) }
      let load = subject.load("a", fetch: origin.fetch)
      while origin.callCount == 0 { await Task.yield() }
      subject.cache.removeAll(withPrefix: "a")
      _ = await load.result
      try #require(subject.cache["a"] == nil)
    }
  }

  @Test func `an update runs again if a value is published after it has read the key`() async throws {
    let cache = try Cache<String, Int>(costLimit: 10, configuration: Self.configuration(.leastHitDensity))
    let gate = Gate()
    let load = await load(cache, gate: gate)
    let read = Recorder<Int?>()
    try await cache.updateValue(forKey: "a") { value in
      read.record(value)
      gate.open()
      _ = try await load.value
      value = (value ?? 0) + 1
    }
    #expect(read.elements == [nil, 7])
    #expect(cache["a"] == 8)
  }

  @Test func `an edit that shows a removal still does so after a publication`() async throws {
    let cache = try Cache<String, Int>(costLimit: 10, configuration: Self.configuration(.leastHitDensity))
    let gate = Gate()
    let load = await load(cache, gate: gate)
    let edited = try await cache.editValue(forKey: "a") { _ in
      nil
    } confirmedBy: {
      #expect(cache["a"] == nil)
      gate.open()
      let loaded = try await load.value
      #expect(loaded == 7)
      #expect(cache["a"] == nil)
      return 9
    }
    #expect(edited == 9)
    #expect(cache["a"] == 9)
  }
}
