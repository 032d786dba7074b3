import CisternTesting
import Testing

struct GateTests {
  @Test func `tasks wait at a closed gate and pass once it is opened`() throws {
    try SeededSchedule.explore(seeds: 300) { executor in
      let gate = Gate()
      let tasks = (0..<5).map { _ in Task(executorPreference: executor) { try await gate.pass() } }
      await gate.arrivals(atLeast: 5)
      gate.open()
      for task in tasks { try await task.value }
      try #require(gate.arrivalCount == 5)
      try #require(gate.waitingCount == 0)
    }
  }

  @Test func `an open gate lets tasks pass until it is closed`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let gate = Gate(isOpen: true)
      try await gate.pass()
      gate.close()
      let task = Task(executorPreference: executor) { await gate.passUncancelled() }
      await gate.arrivals(atLeast: 2)
      while gate.waitingCount == 0 { await Task.yield() }
      gate.open()
      await task.value
      try #require(gate.waitingCount == 0 && gate.arrivalCount == 2)
    }
  }

  @Test func `a cancelled task leaves the gate immediately, at any time of its cancellation`() throws {
    try SeededSchedule.explore(seeds: 300) { executor in
      let gate = Gate()
      let task = Task(executorPreference: executor) { try await gate.pass() }
      for _ in 0..<Int(executor.seed % 4) { await Task.yield() }
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
      try #require(gate.waitingCount == 0)
    }
  }

  @Test func `a task that ignores cancellation continues to wait`() throws {
    try SeededSchedule.explore(seeds: 300) { executor in
      let gate = Gate()
      let task = Task(executorPreference: executor) { await gate.passUncancelled() }
      await gate.arrivals(atLeast: 1)
      task.cancel()
      for _ in 0..<10 { await Task.yield() }
      try #require(gate.waitingCount == 1)
      gate.open()
      await task.value
    }
  }
}
