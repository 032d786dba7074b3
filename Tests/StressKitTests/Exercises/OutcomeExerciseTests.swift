import CisternTesting
import Cistern
import TestDirectories
import Testing

@testable import StressKit

/// The exercise with the outcomes of fetches, on real threads.
struct OutcomeExerciseTests {
  @Test func `outcomes of all kinds meet one another without violations`() async throws {
    let violations = ViolationLog()
    let exercise = OutcomeExercise(violations: violations)
    let directory = TemporaryDirectory()
    for round in 0..<2 {
      let store = try Store(directory: directory.store, memoryLimit: .kibibytes(32), diskLimit: .mebibytes(16))
      try exercise.open(in: store, isFirst: round == 0)
      await withTaskGroup { group in
        for number in 0..<4 {
          group.addTask {
            let client = Performer(
              number: number, tally: Tally(), generator: SeededGenerator(seed: 1, index: number))
            for _ in 0..<500 { await exercise.perform(by: client) }
          }
        }
      }
      await exercise.settle()
      try await store.close()
    }
    #expect(violations.violations == [])
  }
}
