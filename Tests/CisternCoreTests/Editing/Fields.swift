@testable import CisternCore
import CisternTesting
import CisternTestSupport

/// A value that arrives in parts.
typealias Fields = [String: Int]

/// A value that `mergeFields` refuses to merge.
let unmergeable: Fields = ["unmergeable": 1]

/// Returns the cached fields with the incoming ones over them.
@Sendable func mergeFields(_ cached: Fields, _ incoming: Fields) throws -> Fields {
  if incoming == unmergeable || cached == unmergeable { throw Broken() }
  return cached.merging(incoming) { $1 }
}

/// A cache of fields, in memory or over a second tier, for one schedule.
struct FieldsSubject: Sendable {
  enum Kind: CaseIterable, Sendable { case memory, twoTiers, staging }

  let kind: Kind
  let tier: FaultInjectingTier?
  let store: Store
  let cache: Cache<String, Fields>
  let executor: SeededExecutor
  let clock = ManualClock()

  init(
    _ kind: Kind, on executor: SeededExecutor, expiry: Expiry = .never, tier existing: FaultInjectingTier? = nil,
    configuration: CacheConfiguration<Fields> = CacheConfiguration(merge: mergeFields)
  ) throws {
    self.kind = kind
    self.executor = executor
    let settings = Store.Configuration.ignoringMemoryPressure(clock: clock, taskExecutor: executor)
    switch kind {
    case .memory: tier = nil
    case .twoTiers: tier = existing ?? FaultInjectingTier(commits: .immediate, taskExecutor: executor)
    case .staging: tier = existing ?? FaultInjectingTier(commits: .onDemand, taskExecutor: executor)
    }
    store = try Store(secondTier: tier, memoryLimit: .mebibytes(1), configuration: settings)
    cache = try store.cache(
      "fields", of: Fields.self, keyedBy: String.self, expiry: expiry, configuration: configuration)
  }

  /// Returns another store over the same tier, with empty memory.
  func reopened() throws -> FieldsSubject { try FieldsSubject(kind, on: executor, tier: tier) }

  func task<Success: Sendable>(
    _ body: @escaping @Sendable () async throws -> Success
  ) -> Task<Success, any Error> {
    Task(executorPreference: executor, operation: body)
  }

  /// Returns the values from memory and from the second tier. Empties memory between the reads if a second tier has
  /// the values.
  func valuesFromBothTiers(_ key: String) -> [Fields?] {
    let first = cache[key]
    if kind != .memory { cache.trim(toCost: 0) }
    return [first, cache[key]]
  }

  var findings: [String] { cache.checkInvariants() + cache.watchFindings }
}

extension Cache {
  /// Findings about keys that are still watched when no write is pending.
  var watchFindings: [String] {
    table.watchedCount == 0 ? [] : ["\(table.watchedCount) keys are still watched"]
  }
}
