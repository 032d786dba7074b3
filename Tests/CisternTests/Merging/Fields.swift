@testable import Cistern
import CisternTesting

/// A value that comes in parts.
typealias Fields = [String: Int]

/// Refuses to be merged.
let unmergeable: Fields = ["unmergeable": 1]

/// The incoming fields over the cached ones.
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
    var settings = Store.Configuration()
    settings.taskExecutor = executor
    settings.clock = clock
    settings.respondsToMemoryPressure = false
    switch kind {
    case .memory: tier = nil
    case .twoTiers: tier = existing ?? FaultInjectingTier(commits: .immediate, taskExecutor: executor)
    case .staging: tier = existing ?? FaultInjectingTier(commits: .onDemand, taskExecutor: executor)
    }
    store = try Store(secondTier: tier, memoryLimit: .mebibytes(1), configuration: settings)
    cache = try store.cache(
      "fields", of: Fields.self, keyedBy: String.self, expiry: expiry, configuration: configuration)
  }

  /// Another store over the same tier: nothing is in memory.
  func reopened() throws -> FieldsSubject { try FieldsSubject(kind, on: executor, tier: tier) }

  func task<Success: Sendable>(
    _ body: @escaping @Sendable () async throws -> Success
  ) -> Task<Success, any Error> {
    Task(executorPreference: executor, operation: body)
  }

  /// What either tier returns; memory is emptied on the way, where that loses nothing.
  func valuesFromBothTiers(_ key: String) -> [Fields?] {
    let first = cache[key]
    if kind != .memory { cache.trim(toCost: 0) }
    return [first, cache[key]]
  }

  var findings: [String] { cache.checkInvariants() + cache.watchFindings }
}

extension Cache {
  /// Keys that are watched though nobody writes.
  var watchFindings: [String] {
    table.watchedCount == 0 ? [] : ["\(table.watchedCount) keys are still watched"]
  }
}
