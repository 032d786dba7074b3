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

  var findings: [String] {
    fields.checkInvariants() + numbers.checkInvariants() + fields.watchFindings + numbers.watchFindings
  }
}
