import CisternTesting
import Testing

@testable import StressKit

/// The exercise with an origin that works and fails by turns, and its rule.
struct BreakerExerciseTests {
  @Test func `a failing origin behind a breaker receives fewer requests than a working one`() async {
    let violations = ViolationLog()
    let exercise = BreakerExercise(violations: violations)
    await withTaskGroup { group in
      for number in 0..<4 {
        group.addTask {
          let client = Performer(
            number: number, tally: Tally(), generator: SeededGenerator(seed: 1, index: number))
          for _ in 0..<2 * BreakerExercise.phaseLength { await exercise.perform(by: client) }
        }
      }
    }
    await exercise.settle()
    #expect(violations.violations == [])
    let counts = exercise.counts
    #expect(counts.failing > 0 && counts.working > counts.failing, "\(counts)")
  }

  @Test func `only pairs of complete phases count`() {
    var requests = OriginRequests()
    for (phase, count) in [5, 7, 11, 13, 17].enumerated() {
      for _ in 0..<count { requests.note(in: phase) }
    }
    #expect(requests.counts(before: 0) == OriginRequests.Counts())
    #expect(requests.counts(before: 1) == OriginRequests.Counts())
    #expect(requests.counts(before: 3) == OriginRequests.Counts(working: 5, failing: 7))
    #expect(requests.counts(before: 4) == OriginRequests.Counts(working: 16, failing: 20))
  }
}
