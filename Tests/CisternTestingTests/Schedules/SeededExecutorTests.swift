import CisternTesting
import Locking
import Testing
#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

struct SeededExecutorTests {
  @TaskLocal static var mark = 0

  /// Returns the order in which five tasks of three steps each pass their steps.
  private static func order(seed: UInt64) throws -> [Int] {
    try SeededExecutor.run(seed: seed) { _ in
      let order = Recorder<Int>()
      await withTaskGroup { group in
        for name in 0..<5 {
          group.addTask {
            for _ in 0..<3 {
              order.record(name)
              await Task.yield()
            }
          }
        }
      }
      return order.elements
    }
  }

  @Test func `equal seeds give equal interleavings`() throws {
    for seed in 0..<200 as Range<UInt64> {
      #expect(try Self.order(seed: seed) == Self.order(seed: seed))
    }
  }

  @Test func `different seeds give different interleavings`() throws {
    let orders = try Set((0..<1_000 as Range<UInt64>).map(Self.order))
    #expect(orders.count > 950)
  }

  @Test func `the body's value is returned once no job is left`() throws {
    let isDone = try SeededExecutor.run(seed: 3) { executor in
      let isDone = Recorder<Bool>()
      _ = Task(executorPreference: executor) {
        for _ in 0..<20 { await Task.yield() }
        isDone.record(true)
      }
      return isDone
    }
    #expect(isDone.count == 1)
  }

  @Test func `an actor, a child task and an unstructured task stay on the calling thread`() throws {
    actor Counter {
      var count = 0
      func increment() { count += 1 }
    }
    let caller = pthread_self()
    let threads = try SeededExecutor.run(seed: 9) { executor in
      let counter = Counter()
      let strangers = Recorder<Bool>()
      await withTaskGroup { group in
        for _ in 0..<4 {
          group.addTask {
            await counter.increment()
            if pthread_equal(pthread_self(), caller) == 0 { strangers.record(true) }
            await Task(executorPreference: executor) {
              if pthread_equal(pthread_self(), caller) == 0 { strangers.record(true) }
            }.value
          }
        }
      }
      return (await counter.count, strangers.count)
    }
    #expect(threads == (4, 0))
  }

  @Test func `a deadlock is thrown with its seed`() {
    #expect {
      try SeededExecutor.run(seed: 77) { _ in
        await Gate().passUncancelled()
      }
    } throws: { error in
      guard let failure = error as? ScheduleFailure, case .deadlock = failure.cause else { return false }
      return failure.seed == 77 && failure.description.contains("CISTERN_SEED=77")
    }
  }

  @Test func `an endless schedule is thrown with its seed`() {
    #expect {
      try SeededExecutor.run(seed: 78, stepLimit: 1_000) { _ in
        while true { await Task.yield() }
      }
    } throws: { error in
      guard let failure = error as? ScheduleFailure, case .stepLimitReached = failure.cause else { return false }
      return failure.seed == 78 && failure.steps == 1_000
    }
  }

  @Test func `an error of the body is thrown with its seed`() {
    struct Wrong: Error {}
    #expect {
      try SeededSchedule.explore(seeds: 10) { executor in
        if executor.seed % 10 == 6 { throw Wrong() }
      }
    } throws: { error in
      guard let failure = error as? ScheduleFailure, case .thrown(let thrown) = failure.cause else { return false }
      return thrown is Wrong && failure.seed % 10 == 6
    }
  }

  @Test func `the body sees the caller's task-local values`() throws {
    let seen = try Self.$mark.withValue(5) {
      try SeededExecutor.run(seed: 0) { executor in
        await Task(executorPreference: executor) { Self.mark }.value
      }
    }
    #expect(seen == 5)
  }

  @Test func `with a patience, the executor waits for jobs from other threads`() throws {
    let seen = try SeededExecutor.run(seed: 1, patience: .seconds(10_000_000)) { _ in
      // Another thread adds the only job after the body has suspended. The shared pool could be busy with other tests
      // for hours.
      try await withCheckedThrowingContinuation { continuation in
        do {
          try SystemThread.start { continuation.resume(returning: 11) }
        } catch {
          continuation.resume(throwing: error)
        }
      }
    }
    #expect(seen == 11)
  }

  @Test func `jobs that arrive after the end run on the global pool`() async throws {
    let gate = Gate()
    let task = try SeededExecutor.run(seed: 1) { executor in
      Task(executorPreference: executor) {
        await gate.passUncancelled()
        return 12
      }
    }
    gate.open()
    #expect(await task.value == 12)
  }
}
