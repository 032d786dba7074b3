import CisternTesting
import CisternTestSupport
import Foundation
import Testing

@testable import CisternCore

/// Runs randomly selected combinations on real threads, and over a real disk unless the second tier is the user's. Each
/// seed selects other combinations.
@Suite(.serialized)
struct CombinationThreadsTests {
  @Test(arguments: CacheKind.allCases)
  func `every property holds when an operation meets another one in progress on other threads`(
    kind: CacheKind
  ) async throws {
    let combinations = Combination.all.filter { combination in
      // A real disk has no hook that stops an operation at these points.
      let isStoppable = combination.point != .secondTierRead && combination.point != .room
      return combination.kind == kind && isStoppable
    }
    for seed in SeededSchedule.seeds(kind.threadTrials) {
      var generator = SeededGenerator(seed: seed)
      let combination = combinations[generator.next(below: combinations.count)]
      let scratch = TemporaryDirectory()
      let trial = try await Trial(combination, over: .directory(scratch.store))
      let findings = try await trial.run(generator)
      try await trial.arena.store?.close()
      #expect(findings.isEmpty, "seed \(seed), \(combination): \(findings)")
    }
  }
}
