import CisternCore
import CisternTesting
import CisternTestSupport

/// Two caches of one store, of different types.
struct TwoCaches: Sendable {
  static let commits: [FaultInjectingTier.CommitMode?] = [nil, .immediate, .onDemand]

  let tier: FaultInjectingTier?
  let store: Store
  let fields: Cache<String, Fields>
  let numbers: Cache<Int, Int>

  init(
    over tier: FaultInjectingTier?, on executor: SeededExecutor, memoryLimit: ByteCount = .mebibytes(1),
    merge: (@Sendable (Fields, Fields) throws -> Fields)? = nil
  ) throws {
    self.tier = tier
    store = try Store(
      secondTier: tier, memoryLimit: memoryLimit,
      configuration: .ignoringMemoryPressure(clock: ManualClock(), taskExecutor: executor))
    fields = try store.cache(
      "fields", of: Fields.self, keyedBy: String.self, configuration: CacheConfiguration(merge: merge))
    numbers = try store.cache("numbers", of: Int.self, keyedBy: Int.self)
  }

  init(_ commits: FaultInjectingTier.CommitMode?, on executor: SeededExecutor) throws {
    try self.init(over: commits.map { FaultInjectingTier(commits: $0, taskExecutor: executor) }, on: executor)
  }

  /// Runs a test with two caches and an executor of its own.
  static func run(
    _ commits: FaultInjectingTier.CommitMode?,
    _ body: @escaping @Sendable (TwoCaches, Cache<String, Fields>, Cache<Int, Int>) async throws -> Void
  ) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let caches = try TwoCaches(commits, on: executor)
      try await body(caches, caches.fields, caches.numbers)
    }
  }

  /// Runs a test with two caches in 60 schedules.
  static func explore(
    _ commits: FaultInjectingTier.CommitMode?,
    _ body: @escaping @Sendable (TwoCaches, SeededExecutor) async throws -> Void
  ) throws {
    try SeededSchedule.explore(seeds: 60) { executor in
      try await body(TwoCaches(commits, on: executor), executor)
    }
  }

  /// Stores a value in each cache. That of `fields` has a tag.
  func storeValues() {
    fields.setValue(["v": 1], forKey: "a", tags: ["news"])
    numbers[1] = 1
  }

  /// Keeps the values of others, but merges the fields of both.
  var mergingFields: StoreDraftConflictPolicy {
    .theirs.resolving(
      fields, by: .merge { ($0.theirs ?? [:]).merging($0.mine ?? [:]) { theirs, _ in theirs } })
  }

  var findings: [String] {
    fields.checkInvariants() + numbers.checkInvariants() + fields.watchFindings + numbers.watchFindings
  }
}
