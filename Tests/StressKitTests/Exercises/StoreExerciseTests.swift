import CisternTesting
import Cistern
import TestDirectories
import Testing

@testable import StressKit

/// The exercises with contents and with backups, on real threads.
struct StoreExerciseTests {
  @Test func `contents and enumerations meet writers without violations`() async throws {
    let violations = ViolationLog()
    let tallies = try await run(ContentsExercise(violations: violations), operations: 400)
    #expect(violations.violations == [])
    #expect(tallies.contains { $0.count(of: .listed) > 0 })
  }

  @Test func `backups and verifications meet writers without violations`() async throws {
    let violations = ViolationLog()
    let tallies = try await run(BackupExercise(violations: violations), operations: 200)
    #expect(violations.violations == [])
    #expect(tallies.contains { $0.count(of: .copied) > 0 })
    #expect(tallies.contains { $0.count(of: .verified) > 0 })
  }

  /// Runs an exercise with four clients, before and after a reopening of its store.
  private func run(_ exercise: some Exercise, operations: Int) async throws -> [Tally] {
    let directory = TemporaryDirectory()
    let tallies = (0..<4).map { _ in Tally() }
    for round in 0..<2 {
      let store = try Store(directory: directory.store, memoryLimit: .kibibytes(32), diskLimit: .mebibytes(16))
      try exercise.open(in: store, isFirst: round == 0)
      await withTaskGroup { group in
        for (number, tally) in tallies.enumerated() {
          group.addTask {
            let generator = SeededGenerator(seed: 1 + UInt64(round), index: number)
            let client = Performer(number: number, tally: tally, generator: generator)
            for _ in 0..<operations { await exercise.perform(by: client) }
          }
        }
      }
      await exercise.settle()
      try await store.close()
    }
    return tallies
  }
}
