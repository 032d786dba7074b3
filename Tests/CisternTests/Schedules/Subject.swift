import Cistern
import CisternTesting

/// What a property of loading is checked on: the coalescer by itself, a cache in memory, a cache over a second tier.
enum SubjectKind: CaseIterable, Sendable {
  case coalescer
  case memory
  /// Over a tier that commits at once.
  case twoTiers
  /// Over a tier that has staged everything and committed nothing.
  case staging

  /// Those that keep values.
  static let caches: [SubjectKind] = [.memory, .twoTiers, .staging]
  /// Those that keep values in two places.
  static let tiered: [SubjectKind] = [.twoTiers, .staging]
}

/// A coalescer or cache of strings to numbers, made for one schedule.
struct Subject: Sendable {
  typealias Fetch = @Sendable (String) async throws -> Int

  let kind: SubjectKind
  let executor: SeededExecutor
  let clock: ManualClock
  let memoryLimit: Int
  /// Present where there is one.
  let tier: FaultInjectingTier?
  private let coalescer: Coalescer<String, Int>?
  private let held: Cache<String, Int>?

  static let partition = "numbers"

  init(
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
    var configuration = Store.Configuration()
    configuration.clock = clock
    configuration.taskExecutor = executor
    configuration.respondsToMemoryPressure = false
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

  /// Another store over the same second tier, as after a restart.
  func reopened(after crash: Bool = false) throws -> Subject {
    try Subject(
      kind, on: executor, memoryLimit: memoryLimit, tier: crash ? tier?.reopenedAfterCrash() : tier, clock: clock)
  }

  /// The cache, of the kinds that are one.
  var cache: Cache<String, Int> { held! }

  nonisolated(nonsending) func value(
    _ key: String, policy: LoadPolicy? = nil, fetch: @escaping Fetch
  ) async throws -> Int {
    if let coalescer { return try await coalescer.value(forKey: key, fetch: fetch) }
    return try await cache.value(forKey: key, policy: policy, fetch: fetch)
  }

  /// Makes what is on its way not be kept.
  func remove(_ key: String) {
    if let coalescer { coalescer.forget(key) } else { cache.removeValue(forKey: key) }
  }

  /// A load in a task of its own.
  func load(
    _ key: String, priority: TaskPriority? = nil, policy: LoadPolicy? = nil, fetch: @escaping Fetch
  ) -> Task<Int, any Error> {
    Task(executorPreference: executor, priority: priority) { try await value(key, policy: policy, fetch: fetch) }
  }

  /// What either tier returns; memory is emptied on the way.
  func valuesFromBothTiers(_ key: String) -> [Int?] {
    let first = cache[key]
    cache.trim(toCost: 0)
    return [first, cache[key]]
  }

  var inProgressCount: Int { coalescer?.flightCount ?? cache.statistics.inProgressCount }

  /// What the whole-cache check finds, once nothing is under way: nothing.
  var findings: [String] {
    guard let coalescer else { return cache.checkInvariants() }
    return coalescer.flightCount == 0 ? [] : ["\(coalescer.flightCount) flights are left"]
  }
}

/// Lets other tasks run, as often as the generator says.
func pause(_ generator: inout SeededGenerator, atMost limit: Int = 6) async {
  for _ in 0..<generator.next(below: limit + 1) { await Task.yield() }
}

/// What a task brought, as far as tests compare it.
func outcome(_ task: Task<Int, any Error>) async -> Outcome {
  do {
    return .value(try await task.value)
  } catch is CancellationError {
    return .cancelled
  } catch {
    return .failure("\(error)")
  }
}

enum Outcome: Hashable, Sendable {
  case value(Int)
  case cancelled
  case failure(String)
}

/// An error of an origin, told apart by its number.
struct Broken: Error, Equatable {
  var number = 0
}
