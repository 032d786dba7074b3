import Cistern

/// The exercises that a run's operations ask for.
struct Exercises: Sendable {
  private let byOperation: [Operation: any Exercise]

  init(of mix: OperationMix, seed: UInt64, violations: ViolationLog) {
    var byOperation: [Operation: any Exercise] = [:]
    if mix.includes(.outage) { byOperation[.outage] = OutageExercise(seed: seed, violations: violations) }
    if mix.includes(.merge) { byOperation[.merge] = MergingExercise(violations: violations) }
    if mix.includes(.count) { byOperation[.count] = CountingExercise(violations: violations) }
    if mix.includes(.pair) { byOperation[.pair] = PairExercise(violations: violations) }
    if mix.includes(.transfer) { byOperation[.transfer] = TransferExercise(violations: violations) }
    if mix.includes(.edit) { byOperation[.edit] = EditExercise(violations: violations) }
    if mix.includes(.recall) { byOperation[.recall] = RecallExercise(violations: violations) }
    self.byOperation = byOperation
  }

  subscript(operation: Operation) -> (any Exercise)? { byOperation[operation] }

  /// Opens the exercises' store, and each one's cache; nil where there are none.
  func open(
    directory: String, isFirst: Bool, options: Store.Configuration
  ) throws -> Store? {
    guard !byOperation.isEmpty else { return nil }
    // Memory too small for all of it, so that both tiers are read; and a file in which none of it is ever in the way.
    let store = try Store(
      directory: directory + "/exercises", memoryLimit: .kibibytes(32), diskLimit: .mebibytes(64),
      configuration: options)
    for exercise in byOperation.values { try exercise.open(in: store, isFirst: isFirst) }
    return store
  }

  /// Checks all of them, with nobody performing.
  func settle() async {
    for exercise in byOperation.values { await exercise.settle() }
  }
}
