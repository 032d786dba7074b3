import CisternTesting
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
    let client = Performer(number: 0, tally: Tally(), generator: SeededGenerator(seed: 1, index: 0))
    for _ in 0..<200 { await exercise.perform(by: client) }
    await withTaskGroup(of: Void.self) { group in
      group.cancelAll()
      group.addTask { await supervisor.reopen() }
    }
    await supervisor.finish()
    #expect(supervisor.reopenings == 1)
    #expect(runState.violations.violations == [])
  }

  @Test(.timeLimit(.minutes(30)))
  func `if the store cannot be opened again, this is reported, and the closed cache is not checked`() async throws {
    var configuration = try StressCommand.parse(
      ["--profile", "read-heavy", "--in-process", "--keys", "1000", "--value-size", "100", "--seed", "1"]
    ).resolve()
    configuration.lifetimes = Lifetimes([.forever])
    let stop = StopSignal(configuration.bound)
    let runState = RunState(configuration, stop: stop)
    let directory = TemporaryDirectory()
    let holder = SubjectHolder(try Subject(runState, directory: directory.store, isFirst: true))
    for (key, name) in runState.keys.names.enumerated() {
      let value = runState.keys.value(of: key, version: .written(1), run: runState.run)
      holder.current.cache.setValue(value, forKey: name)
      holder.current.witness.wrote(name, .written(1))
    }
    let supervisor = StoreSupervisor(
      runState: runState, holder: holder, directory: try directory.file("file", "no directory"))
    await supervisor.reopen()
    await supervisor.finish()
    #expect(supervisor.reopenings == 0)
    // The run ends, but no user interrupted it.
    #expect(stop.isRaised && !stop.isInterrupted)
    #expect(runState.violations.count == 1)
    #expect(runState.violations.violations.first?.detail.contains("could not be reopened") == true)
  }
}
