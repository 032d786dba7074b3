import CisternTesting
import Locking
import Testing

/// Runs every operation in progress against every other operation, at each of its suspension points, in every cache
/// kind. The seed determines the combination and one interleaving of it.
struct CombinationTests {
  /// The error for a combination that contradicted a property or did not end.
  struct Failure: Error, CustomStringConvertible {
    let combination: Combination
    let finding: String

    var description: String { "\(combination): \(finding)" }
  }

  /// The result of running a combination.
  struct Outcome: Sendable {
    let isReached: Bool
    let findings: [Property.Finding]
  }

  static func run(_ combination: Combination, on executor: SeededExecutor) async throws -> Outcome {
    let mode: FaultInjectingTier.CommitMode = executor.seed % 2 == 0 ? .immediate : .onDemand
    let trial = try Trial(combination, over: .seeded(executor, mode))
    let findings = try await trial.run(SeededGenerator(seed: executor.seed))
    return Outcome(isReached: trial.arena.checkpoint.wasReached, findings: findings)
  }

  @Test(arguments: CacheKind.allCases)
  func `every property holds when an operation meets another one in progress`(kind: CacheKind) throws {
    let all = Combination.all.filter { $0.kind == kind }
    let run = all.filter { !$0.isKnownToHang }
    let reached = Guarded<Set<Combination>>([])
    do {
      try SeededSchedule.explore(seeds: run.count, stepLimit: 10_000) { executor in
        let combination = run[Int(executor.seed % UInt64(run.count))]
        let outcome = try await Self.run(combination, on: executor)
        if outcome.isReached { reached.withLock { _ = $0.insert(combination) } }
        let findings = outcome.findings.filter { !combination.isKnownToContradict($0.property) }
        guard findings.isEmpty else {
          throw Failure(combination: combination, finding: findings.map(\.description).joined(separator: "; "))
        }
      }
    } catch {
      throw Failure(combination: run[Int(error.seed % UInt64(run.count))], finding: "\(error)")
    }
    let count = reached.withLock { $0.count }
    print("combinations of operations, \(kind): \(count) of \(all.count)")
    // A known defect may prevent an operation from reaching a point.
    if SeededSchedule.seeds(run.count).count >= run.count, knownDefects.isEmpty { #expect(count == run.count) }
  }
}
