import Cistern

/// The exercises that the operation mix of a run includes.
struct Exercises: Sendable {
  private let byOperation: [Operation: any Exercise]

  init(of mix: OperationMix, seed: UInt64, violations: ViolationLog, temporary: String) {
    var byOperation: [Operation: any Exercise] = [:]
    if mix.includes(.outage) { byOperation[.outage] = OutageExercise(seed: seed, violations: violations) }
    if mix.includes(.breaker) { byOperation[.breaker] = BreakerExercise(violations: violations) }
    if mix.includes(.outcome) { byOperation[.outcome] = OutcomeExercise(violations: violations) }
    if mix.includes(.merge) { byOperation[.merge] = MergingExercise(violations: violations) }
    if mix.includes(.count) { byOperation[.count] = CountingExercise(violations: violations) }
    if mix.includes(.pair) { byOperation[.pair] = PairExercise(violations: violations) }
    if mix.includes(.transfer) { byOperation[.transfer] = TransferExercise(violations: violations) }
    if mix.includes(.edit) { byOperation[.edit] = EditExercise(violations: violations) }
    if mix.includes(.recall) { byOperation[.recall] = RecallExercise(violations: violations) }
    if mix.includes(.contents) { byOperation[.contents] = ContentsExercise(violations: violations) }
    if mix.includes(.backup) {
      byOperation[.backup] = BackupExercise(violations: violations, temporary: temporary)
    }
    self.byOperation = byOperation
  }

  subscript(operation: Operation) -> (any Exercise)? { byOperation[operation] }

  /// The requests to the origin of the exercise with a circuit breaker; nil if the mix does not include it.
  var breakerRequests: OriginRequests.Counts? { (byOperation[.breaker] as? BreakerExercise)?.counts }

  /// Opens the store of the exercises, and the cache of each one. Returns nil if there are no exercises.
  func open(
    directory: String, isFirst: Bool, options: Store.Configuration
  ) throws -> Store? {
    guard !byOperation.isEmpty else { return nil }
    // The memory limit is small, so that reads use both tiers. The disk limit is large enough that nothing is
    // evicted.
    let store = try Store(
      directory: directory + "/exercises", memoryLimit: .kibibytes(32), diskLimit: .mebibytes(64),
      configuration: options)
    for exercise in byOperation.values { try exercise.open(in: store, isFirst: isFirst) }
    return store
  }

  /// Checks the invariants of all exercises while no client performs operations.
  func settle() async {
    for exercise in byOperation.values { await exercise.settle() }
  }
}
