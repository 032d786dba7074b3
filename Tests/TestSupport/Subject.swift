import CisternCore
import CisternTesting

/// The subject of a test of loading: a bare coalescer, a cache in memory, or a cache over a second tier.
package enum SubjectKind: CaseIterable, Sendable {
  case coalescer
  case memory
  /// A cache over a tier that commits immediately.
  case twoTiers
  /// A cache over a tier that stages all writes and commits on demand.
  case staging

  /// The subjects that keep values.
  package static let caches: [SubjectKind] = [.memory, .twoTiers, .staging]
  /// The subjects that keep values in two tiers.
  package static let tiered: [SubjectKind] = [.twoTiers, .staging]
}

/// A coalescer or cache of strings to numbers for one schedule.
package struct Subject: Sendable {
  package typealias Fetch = @Sendable (String) async throws -> Int

  package let kind: SubjectKind
  package let executor: SeededExecutor
  package let clock: ManualClock
  package let memoryLimit: Int
  /// The second tier, if the subject has one.
  package let tier: FaultInjectingTier?
  private let coalescer: Coalescer<String, Int>?
  private let held: Cache<String, Int>?

  package static let partition = "numbers"

  package init(
    _ kind: SubjectKind, on executor: SeededExecutor, completesAbandonedFlights: Bool = false, expiry: Expiry = .never,
    memoryLimit: Int = 1_000_000, tier existing: FaultInjectingTier? = nil, clock: ManualClock = ManualClock(),
    settings: CacheConfiguration<Int> = CacheConfiguration()
  ) throws {
    var settings = settings
    settings.completesAbandonedFlights = completesAbandonedFlights
    self.kind = kind
    self.clock = clock
    self.memoryLimit = memoryLimit
    self.executor = executor
    let configuration = Store.Configuration.ignoringMemoryPressure(clock: clock, taskExecutor: executor)
    switch kind {
    case .coalescer:
      tier = nil
      held = nil
      coalescer = Coalescer(completesAbandonedFlights: completesAbandonedFlights, taskExecutor: executor)
    case .memory:
      tier = nil
      coalescer = nil
      settings.memoryLimit = .bytes(memoryLimit)
      held = try Cache(settings: settings, expiry: expiry, configuration: configuration)
    case .twoTiers, .staging:
      let tier =
        existing
        ?? FaultInjectingTier(commits: kind == .staging ? .onDemand : .immediate, taskExecutor: executor)
      self.tier = tier
      coalescer = nil
      let store = try Store(
        secondTier: tier, memoryLimit: .bytes(memoryLimit), configuration: configuration)
      held = try store.cache(
        Self.partition, of: Int.self, keyedBy: String.self, expiry: expiry,
        configuration: settings)
    }
  }

  /// Returns another store over the same second tier, as after a restart or a crash.
  package func reopened(after crash: Bool = false) throws -> Subject {
    try Subject(
      kind, on: executor, memoryLimit: memoryLimit, tier: crash ? tier?.reopenedAfterCrash() : tier, clock: clock)
  }

  /// The cache. The subject must not be a coalescer.
  package var cache: Cache<String, Int> { held! }

  package nonisolated(nonsending) func value(
    _ key: String, policy: LoadPolicy? = nil, fetch: @escaping Fetch
  ) async throws -> Int {
    if let coalescer { return try await coalescer.value(forKey: key, fetch: fetch) }
    return try await cache.value(forKey: key, policy: policy, fetch: fetch)
  }

  /// Removes the value. A running flight of the key is not stored.
  package func remove(_ key: String) {
    if let coalescer { coalescer.forget(key) } else { cache.removeValue(forKey: key) }
  }

  /// Loads in a new task.
  package func load(
    _ key: String, priority: TaskPriority? = nil, policy: LoadPolicy? = nil, fetch: @escaping Fetch
  ) -> Task<Int, any Error> {
    Task(executorPreference: executor, priority: priority) { try await value(key, policy: policy, fetch: fetch) }
  }

  /// Returns the values from memory and from the second tier. Empties memory between the reads.
  package func valuesFromBothTiers(_ key: String) -> [Int?] {
    let first = cache[key]
    cache.trim(toCost: 0)
    return [first, cache[key]]
  }

  package var inProgressCount: Int { coalescer?.flightCount ?? cache.statistics.inProgressCount }

  /// The findings of the whole-cache check, or the number of flights that a coalescer has left. Call this only after
  /// all flights have ended.
  package var findings: [String] {
    guard let coalescer else { return cache.checkInvariants() }
    return coalescer.flightCount == 0 ? [] : ["\(coalescer.flightCount) flights are left"]
  }
}

/// Yields to other tasks a random number of times.
package func pause(_ generator: inout SeededGenerator, atMost limit: Int = 6) async {
  for _ in 0..<generator.next(below: limit + 1) { await Task.yield() }
}

/// Returns the result of a task in a form that tests can compare.
package func outcome(_ task: Task<Int, any Error>) async -> Outcome {
  do {
    return .value(try await task.value)
  } catch is CancellationError {
    return .cancelled
  } catch {
    return .failure("\(error)")
  }
}

package enum Outcome: Hashable, Sendable {
  case value(Int)
  case cancelled
  case failure(String)
}

/// An error of an origin, identified by its number.
package struct Broken: Error, Equatable {
  package var number: Int

  package init(number: Int = 0) { self.number = number }
}
