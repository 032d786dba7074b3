import CisternTesting
import CisternTestSupport
import Testing

@testable import CisternCore

/// Removals from a cache in memory: the fast path, compared with the path of every write.
struct RemovingTests {
  /// The state of the key "a" at its removal.
  enum Situation: CaseIterable, Sendable {
    case present, absent, large, tagged, expired, inGrace, invalidated, fetching, refreshing, edited, updating
    case otherUpdating

    /// Whether the fast path decides about the removal in a cache without observers.
    var isDecided: Bool {
      switch self {
      case .present, .absent, .large, .tagged, .inGrace, .invalidated: true
      case .expired, .fetching, .refreshing, .edited, .updating, .otherUpdating: false
      }
    }
  }

  /// A form of a removal.
  enum Way: Sendable {
    /// The call of a user.
    case removal
    /// The path of every write.
    case anyWrite
    /// The fast path alone.
    case fast
  }

  /// Everything that a removal changes.
  struct Effects: Equatable, Sendable {
    var statistics: CacheStatistics?
    /// The value of the key right after the removal.
    var value: Int?
    /// The value of the key after all work of the situation has ended.
    var lastValue: Int?
    /// The result of the load, the update or the edit during the removal.
    var result: Outcome?
    var notices: [String] = []
    /// Whether the fast path decided; nil if another way was used.
    var isDecided: Bool?
    var findings: [String] = []
  }

  /// A cache with one shard, the key "a" in a situation, and the neighbor "b".
  private struct Trial: Sendable {
    let cache: Cache<String, Int>
    let clock = ManualClock()
    let executor: SeededExecutor
    let gate = Gate()
    let notices = Recorder<String>()

    init(_ policy: EvictionPolicyKind = .leastHitDensity, on executor: SeededExecutor) throws {
      self.executor = executor
      var configuration = Store.Configuration.ignoringMemoryPressure(clock: clock, taskExecutor: executor)
      configuration.shardCount = 1
      configuration.evictionPolicy = policy
      cache = try Cache(costLimit: 10, weigher: { $0 }, configuration: configuration)
      cache["b"] = 2
    }

    /// Brings about the situation. Returns the work that continues after the removal.
    func begin(_ situation: Situation) async throws -> Task<Int, any Error>? {
      if situation != .absent, situation != .fetching {
        cache.setValue(
          situation == .large ? 8 : 3, forKey: "a",
          expiry: situation == .expired
            ? .after(.seconds(10)) : .after(.seconds(10), graceStale: .seconds(10)),
          tags: situation == .tagged || situation == .invalidated ? ["tag", "other"] : [])
      }
      let work: Task<Int, any Error>?
      switch situation {
      case .present, .absent, .large, .tagged: work = nil
      case .invalidated:
        // The sweep has not come to the entry.
        cache.removeAll(tagged: "tag")
        work = nil
      case .expired, .inGrace:
        clock.advance(by: .seconds(11))
        work = nil
      case .fetching, .refreshing:
        if situation == .refreshing { clock.advance(by: .seconds(11)) }
        work = Task(executorPreference: executor) { [cache, gate] in
          try await cache.value(forKey: "a") { _ in
            await gate.passUncancelled()
            return 5
          }
        }
      case .edited:
        work = Task(executorPreference: executor) { [cache, gate] in
          try await cache.editValue(forKey: "a") { _ in
            4
          } confirmedBy: {
            await gate.passUncancelled()
            return 5
          } ?? -1
        }
      case .updating, .otherUpdating:
        let key = situation == .updating ? "a" : "b"
        work = Task(executorPreference: executor) { [cache, gate] in
          try await cache.updateValue(forKey: key) { value in
            await gate.passUncancelled()
            let next = (value ?? 0) + 1
            value = next
            return next
          }
        }
      }
      if case .some = work { await gate.arrivals(atLeast: 1) }
      return work
    }

    func remove(_ way: Way) -> Bool? {
      switch way {
      case .removal: cache.removeValue(forKey: "a")
      case .anyWrite: cache.conditionalWriter.remove(cache.table.hashed("a"), context: nil)
      case .fast: return cache.table.remove(cache.table.hashed("a"), at: clock.now())
      }
      return nil
    }
  }

  private func effects(of way: Way, in situation: Situation, isObserved: Bool) throws -> Effects {
    try SeededExecutor.run(seed: 0) { executor in
      let trial = try Trial(on: executor)
      let (cache, notices) = (trial.cache, trial.notices)
      let token = isObserved ? cache.observe { notices.record("\($0.event), previously \($0.previous)") } : nil
      let work = try await trial.begin(situation)
      var effects = Effects()
      effects.isDecided = trial.remove(way)
      // Counted before the look-ups, which count too.
      effects.statistics = cache.statistics
      effects.value = cache["a"]
      trial.gate.open()
      if let work { effects.result = await outcome(work) }
      for _ in 0..<100 { await Task.yield() }
      effects.lastValue = cache["a"]
      effects.notices = notices.elements
      effects.findings = cache.checkInvariants()
      token?.cancel()
      return effects
    }
  }

  @Test(arguments: Situation.allCases, [false, true])
  func `a removal has the results, counts and notices of the path of every write`(
    situation: Situation, isObserved: Bool
  ) throws {
    let removal = try effects(of: .removal, in: situation, isObserved: isObserved)
    let anyWrite = try effects(of: .anyWrite, in: situation, isObserved: isObserved)
    #expect(removal == anyWrite)
    #expect(removal.findings == [])
    #expect(removal.value == nil)
  }

  @Test(arguments: Situation.allCases)
  func `the fast path decides about live values without flights, edits and watchers, and leaves others unchanged`(
    situation: Situation
  ) throws {
    let fast = try effects(of: .fast, in: situation, isObserved: false)
    #expect(fast.isDecided == situation.isDecided)
    let counts = try #require(fast.statistics)
    let removes = situation.isDecided && situation != .absent && situation != .invalidated
    #expect(counts.removals == (removes ? 1 : 0))
    #expect(counts.memory.cost == (situation.isDecided || situation == .fetching ? 2 : situation == .edited ? 6 : 5))
    #expect(fast.findings == [])
  }

  @Test(arguments: Situation.allCases)
  func `the fast path leaves every key of an observed cache unchanged`(situation: Situation) throws {
    let fast = try effects(of: .fast, in: situation, isObserved: true)
    #expect(fast.isDecided == false)
    #expect(fast.statistics?.removals == 0)
    #expect(fast.findings == [])
  }

  @Test func `the removal of an expired value counts as an expiration, with and without observers`() throws {
    let unobserved = try effects(of: .removal, in: .expired, isObserved: false)
    let removal = try effects(of: .removal, in: .expired, isObserved: true)
    #expect(removal.statistics?.expirations == 1)
    #expect(removal.statistics?.removals == 0)
    #expect(removal.statistics == unobserved.statistics)
    #expect(removal.notices.filter { $0.contains("removed") }.count == 1)
    #expect(removal.notices.contains { $0.contains("expired") })
  }

  @Test(arguments: EvictionPolicyKind.allCases)
  func `removals release the room of their values, for every eviction policy`(policy: EvictionPolicyKind) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let trial = try Trial(policy, on: executor)
      for round in 0..<50 {
        trial.cache["a"] = 1 + round % 8
        try #require(trial.cache.statistics.memory.cost == 3 + round % 8)
        trial.cache.removeValue(forKey: "a")
        try #require(trial.cache.statistics.memory.cost == 2)
        try #require(trial.cache.statistics.memory.entryCount == 1)
      }
      try #require(trial.cache["b"] == 2)
      try #require(trial.cache.statistics.removals == 50)
      try #require(trial.cache.checkInvariants() == [])
    }
  }

  @Test func `a fetch that began before a removal does not bring the value back`() throws {
    let removal = try effects(of: .removal, in: .fetching, isObserved: false)
    #expect(removal.result == .value(5))
    #expect(removal.lastValue == nil)
  }

  @Test func `an update runs again if its key is removed during it`() throws {
    let removal = try effects(of: .removal, in: .updating, isObserved: false)
    #expect(removal.lastValue == 1)
  }
}
