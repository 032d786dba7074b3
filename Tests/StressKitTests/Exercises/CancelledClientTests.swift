import CisternTesting
import Cistern
import TestDirectories
import Testing

@testable import StressKit

/// Clients that the end of a run cancels, and errors of cancellation in other tasks.
struct CancelledClientTests {
  @Test func `clients that the end of the run cancels report no violation`() async throws {
    let violations = ViolationLog()
    let directory = TemporaryDirectory()
    let store = try Store(directory: directory.store, memoryLimit: .kibibytes(32), diskLimit: .mebibytes(16))
    let exercises: [any Exercise] = [
      BreakerExercise(violations: violations), CountingExercise(violations: violations),
      EditExercise(violations: violations), MergingExercise(violations: violations),
      OutageExercise(seed: 1, violations: violations), OutcomeExercise(violations: violations),
      PairExercise(violations: violations), RecallExercise(violations: violations),
      TransferExercise(violations: violations), ContentsExercise(violations: violations),
      BackupExercise(violations: violations),
    ]
    for exercise in exercises { try exercise.open(in: store, isFirst: true) }
    for exercise in exercises {
      await withTaskGroup(of: Void.self) { group in
        group.cancelAll()
        group.addTask {
          let client = Performer(number: 0, tally: Tally(), generator: SeededGenerator(seed: 1, index: 0))
          for _ in 0..<200 { await exercise.perform(by: client) }
        }
      }
      await exercise.settle()
    }
    try await store.close()
    #expect(violations.violations == [])
  }

  @Test func `a cancellation is a violation in a task that was not cancelled`() async {
    let violations = ViolationLog()
    #expect(violations.judge(CancellationError(), of: "a load") == .failed)
    #expect(violations.violations.map(\.detail) == ["a load failed: CancellationError()"])
    let outcomes = await withTaskGroup(of: [Outcome].self) { group -> [Outcome]? in
      group.cancelAll()
      group.addTask { () -> [Outcome] in
        let errors: [any Error] = [CancellationError(), Broken()]
        return errors.map { violations.judge($0, of: "a load") }
      }
      return await group.next()
    }
    #expect(outcomes == [.cancelled, .failed])
    #expect(violations.count == 2)
  }

  private struct Broken: Error {}
}
