import CisternTesting
import Testing

struct ScheduleShrinkingTests {
  private struct OutOfOrder: Error {}

  /// Creates tasks that finish in the order of their creation, unless the seed decides otherwise. Nearly every seed
  /// does.
  private static let race: @Sendable (SeededExecutor) async throws -> Void = { executor in
    let done = Recorder<Int>()
    let tasks = (0..<20).map { number in Task(executorPreference: executor) { done.record(number) } }
    for task in tasks { await task.value }
    if done.elements != Array(0..<20) { throw OutOfOrder() }
  }

  /// Runs two tasks alternately, unless the seed decides otherwise. Only late steps decide the outcome.
  private static let lateRace: @Sendable (SeededExecutor) async throws -> Void = { executor in
    let done = Recorder<Int>()
    let tasks = (0..<2).map { number in
      Task(executorPreference: executor) {
        for _ in 0..<500 {
          done.record(number)
          await Task.yield()
        }
      }
    }
    for task in tasks { await task.value }
    // The last steps belong to the slower task, so an earlier range is checked.
    let late = done.elements[700..<800]
    if zip(late, late.dropFirst()).contains(where: ==) { throw OutOfOrder() }
  }

  private static func failure(
    _ body: @escaping @Sendable (SeededExecutor) async throws -> Void
  ) throws -> ScheduleFailure {
    try #require(throws: ScheduleFailure.self) { try SeededSchedule.explore(seeds: 10, body) }
  }

  /// Returns whether the schedule fails when it is limited to its first `choices` choices.
  private static func fails(
    _ body: @escaping @Sendable (SeededExecutor) async throws -> Void, seed: UInt64, choices: Int
  ) -> Bool {
    do {
      try SeededExecutor.run(seed: seed, choiceLimit: choices, body)
      return false
    } catch {
      return true
    }
  }

  @Test func `a failing schedule is shrunk to the fewest first choices that fail, and describes its replay`()
    throws
  {
    let failure = try Self.failure(Self.race)
    let all = try #require(failure.choicesBeforeShrinking)
    #expect(failure.choices >= 1 && failure.choices < all)
    for choices in 0..<failure.choices { #expect(!Self.fails(Self.race, seed: failure.seed, choices: choices)) }
    #expect(Self.fails(Self.race, seed: failure.seed, choices: failure.choices))
    #expect(failure.description.contains("Of its \(all) choices the first \(failure.choices) are enough"))
    #expect(failure.description.contains("CISTERN_SEED=\(failure.seed) CISTERN_CHOICES=\(failure.choices)"))
  }

  @Test func `of a long schedule, the found prefix fails, and the prefix without its last choice does not`() throws {
    let failure = try Self.failure(Self.lateRace)
    #expect(failure.choices > 500)
    #expect(try failure.choices < #require(failure.choicesBeforeShrinking))
    #expect(Self.fails(Self.lateRace, seed: failure.seed, choices: failure.choices))
    #expect(!Self.fails(Self.lateRace, seed: failure.seed, choices: failure.choices - 1))
  }

  @Test func `a failure in the default order of jobs needs no choice, and neither does a deadlock`() throws {
    let thrown = try Self.failure { _ in
      for _ in 0..<5 { await Task.yield() }
      throw OutOfOrder()
    }
    #expect(thrown.choices == 0)
    let deadlock = try Self.failure { executor in
      for _ in 0..<5 { _ = Task(executorPreference: executor) { await Task.yield() } }
      await Gate().passUncancelled()
    }
    #expect(deadlock.choices == 0)
    guard case .deadlock = deadlock.cause else {
      Issue.record("\(deadlock)")
      return
    }
  }

  @Test func `without choices of the seed, jobs run in the order in which they became ready`() throws {
    for seed in 0..<20 as Range<UInt64> {
      #expect(!Self.fails(Self.race, seed: seed, choices: 0))
      #expect(!Self.fails(Self.lateRace, seed: seed, choices: 0))
    }
  }
}
