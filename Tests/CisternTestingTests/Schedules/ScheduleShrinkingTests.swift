import CisternTesting
import Testing

struct ScheduleShrinkingTests {
  private struct OutOfOrder: Error {}

  /// Tasks that are done in the order in which they were made unless the seed decides otherwise, which nearly every seed
  /// does.
  private static let race: @Sendable (SeededExecutor) async throws -> Void = { executor in
    let done = Recorder<Int>()
    let tasks = (0..<20).map { number in Task(executorPreference: executor) { done.record(number) } }
    for task in tasks { await task.value }
    if done.elements != Array(0..<20) { throw OutOfOrder() }
  }

  /// Two tasks take turns, but where the seed decides otherwise. What they do counts late.
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
    // The last of them belong to whoever is behind.
    let late = done.elements[700..<800]
    if zip(late, late.dropFirst()).contains(where: ==) { throw OutOfOrder() }
  }

  private static func failure(
    _ body: @escaping @Sendable (SeededExecutor) async throws -> Void
  ) throws -> ScheduleFailure {
    try #require(throws: ScheduleFailure.self) { try SeededSchedule.explore(seeds: 10, body) }
  }

  /// Whether the schedule fails with so many of its choices.
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

  @Test func `a failing schedule is shrunk to the fewest of its first choices that fail, and says how to repeat it`()
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

  @Test func `of a long schedule the prefix found fails, and the one that is shorter by a choice does not`() throws {
    let failure = try Self.failure(Self.lateRace)
    #expect(failure.choices > 500)
    #expect(try failure.choices < #require(failure.choicesBeforeShrinking))
    #expect(Self.fails(Self.lateRace, seed: failure.seed, choices: failure.choices))
    #expect(!Self.fails(Self.lateRace, seed: failure.seed, choices: failure.choices - 1))
  }

  @Test func `what fails in turn, too, needs no choice; so does a deadlock`() throws {
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

  @Test func `without choices of the seed everything runs in turn`() throws {
    for seed in 0..<20 as Range<UInt64> {
      #expect(!Self.fails(Self.race, seed: seed, choices: 0))
      #expect(!Self.fails(Self.lateRace, seed: seed, choices: 0))
    }
  }
}
