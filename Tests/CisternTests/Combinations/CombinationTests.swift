import CisternTesting
import CisternTestSupport
import Foundation
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
    let trial = try await Trial(combination, over: .seeded(executor, mode))
    let findings = try await trial.run(SeededGenerator(seed: executor.seed))
    return Outcome(isReached: trial.arena.checkpoint.wasReached, findings: findings)
  }

  /// Returns the combination of a seed. Each sequence of as many seeds as combinations has all of them, and a shorter
  /// sequence has some of each operation.
  static func combination(of seed: UInt64, among all: [Combination], in kind: CacheKind) -> Combination {
    var stride = kind.combinationsPerSeed
    while !stride.isCoprime(to: all.count) { stride += 1 }
    return all[Int(seed % UInt64(all.count)) * stride % all.count]
  }

  @Test(arguments: CacheKind.allCases)
  func `every property holds when an operation meets another one in progress`(kind: CacheKind) throws {
    let all = Combination.all.filter { $0.kind == kind }
    let seedCount = all.count / kind.combinationsPerSeed
    let reached = Guarded<Set<Combination>>([])
    do {
      try SeededSchedule.explore(seeds: seedCount, stepLimit: 10_000) { executor in
        let combination = Self.combination(of: executor.seed, among: all, in: kind)
        let outcome = try await Self.run(combination, on: executor)
        if outcome.isReached { reached.withLock { _ = $0.insert(combination) } }
        guard outcome.findings.isEmpty else {
          throw Failure(combination: combination, finding: outcome.findings.map(\.description).joined(separator: "; "))
        }
      }
    } catch {
      throw Failure(combination: Self.combination(of: error.seed, among: all, in: kind), finding: "\(error)")
    }
    let count = reached.withLock { $0.count }
    print("combinations of operations, \(kind): \(count) of \(all.count)")
    if SeededSchedule.seeds(seedCount).count >= all.count { #expect(count == all.count) }
  }

  @Test func `the documentation states the number of combinations`() throws {
    let root = URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let article = root.appendingPathComponent("Sources/Cistern/Documentation.docc/HowItIsTested.md")
    let (thousands, rest) = Combination.all.count.quotientAndRemainder(dividingBy: 1_000)
    let digits = String(repeating: "0", count: 3 - String(rest).count) + String(rest)
    #expect(try String(contentsOf: article, encoding: .utf8).contains("These are \(thousands),\(digits) combinations."))
  }
}

extension Int {
  fileprivate func isCoprime(to other: Int) -> Bool {
    var (larger, smaller) = (self, other)
    while smaller != 0 { (larger, smaller) = (smaller, larger % smaller) }
    return larger == 1
  }
}
