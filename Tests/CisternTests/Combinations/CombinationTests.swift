import CisternTesting
import Locking
import Testing

/// Every operation in progress, met by every other operation at each of its suspension points, in every kind of cache.
/// A seed names the combination, and one interleaving of it.
struct CombinationTests {
  /// What a combination contradicted, or that it did not end.
  struct Failure: Error, CustomStringConvertible {
    let combination: Combination
    let finding: String

    var description: String { "\(combination): \(finding)" }
  }

  /// What a run of a combination came to.
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
  func `whatever meets an operation in progress, neither breaks its promises`(kind: CacheKind) throws {
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
    // A defect may keep an operation from a point.
    if SeededSchedule.seeds(run.count).count >= run.count, knownDefects.isEmpty { #expect(count == run.count) }
  }
}
