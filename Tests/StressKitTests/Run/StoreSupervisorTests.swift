import TestDirectories
import Testing

@testable import StressKit

/// The reopening of a store during a run.
struct StoreSupervisorTests {
  @Test func `the end of a run does not cancel the checks of a reopening`() async throws {
    let configuration = try StressCommand.parse(
      ["--profile", "restart", "--in-process", "--keys", "10", "--value-size", "100", "--seed", "1"]
    ).resolve()
    let runState = RunState(configuration, stop: StopSignal(configuration.bound))
    let directory = TemporaryDirectory()
    let holder = SubjectHolder(try Subject(runState, directory: directory.store, isFirst: true))
    let supervisor = StoreSupervisor(runState: runState, holder: holder, directory: directory.store)
    let exercise = try #require(runState.exercises[.outcome])
    let client = Performer(number: 0, tally: Tally(), generator: SplitMix64(seed: 1, index: 0))
    for _ in 0..<200 { await exercise.perform(by: client) }
    await withTaskGroup(of: Void.self) { group in
      group.cancelAll()
      group.addTask { await supervisor.reopen() }
    }
    await supervisor.finish()
    #expect(supervisor.reopenings == 1)
    #expect(runState.violations.violations == [])
  }
}
