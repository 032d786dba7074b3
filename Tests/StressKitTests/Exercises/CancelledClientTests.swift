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
      TransferExercise(violations: violations),
    ]
    for exercise in exercises { try exercise.open(in: store, isFirst: true) }
    for exercise in exercises {
      let client = Task {
        withUnsafeCurrentTask { unsafe $0?.cancel() }
        let client = Performer(number: 0, tally: Tally(), generator: SplitMix64(seed: 1, index: 0))
        for _ in 0..<200 { await exercise.perform(by: client) }
      }
      await client.value
      await exercise.settle()
    }
    try await store.close()
    #expect(violations.violations == [])
  }

  @Test func `a cancellation is a violation in a task that was not cancelled`() async {
    let violations = ViolationLog()
    #expect(violations.judge(CancellationError(), of: "a load") == .failed)
    #expect(violations.violations.map(\.detail) == ["a load failed: CancellationError()"])
    let client = Task {
      withUnsafeCurrentTask { unsafe $0?.cancel() }
      return (violations.judge(CancellationError(), of: "a load"), violations.judge(Broken(), of: "a load"))
    }
    #expect(await client.value == (.cancelled, .failed))
    #expect(violations.count == 2)
  }

  private struct Broken: Error {}
}
