#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Runs one test under many interleavings.
///
///     @Test func `a removal during a load is not undone by it`() throws {
///       try SeededSchedule.explore { executor in
///         …
///         try #require(cache["key"] == nil)
///       }
///     }
///
/// A test says that a schedule is wrong by throwing, as `#require` does: the failure then names the seed. (`#expect`
/// records an issue and goes on; it does not know the seed.)
///
/// Environment variables override what the tests ask for. `CISTERN_SEEDS=100000` sets how many seeds each exploration
/// tries, and `CISTERN_FIRST_SEED=5` with which it begins. `CISTERN_SEED=1234` tries that one and no other, which is how a
/// failure is looked into, and `CISTERN_CHOICES=7` lets it make so many of its choices. `CISTERN_SCHEDULE_LOG` names a file
/// to which each exploration adds a line: its source file, a tab, and how many schedules it ran.
public enum SeededSchedule {
  /// Runs `body` under each of `count` seeds, on the calling thread, one after the other; stops at the first failure,
  /// and looks for the shortest prefix of that schedule's choices that fails as well, by running the prefixes.
  ///
  /// - Parameters:
  ///   - count: How many seeds to try, from 0 up, unless the environment says otherwise.
  ///   - stepLimit: The most jobs that a schedule may take.
  ///   - patience: How long jobs of other threads are waited for; see
  ///     ``SeededExecutor/run(seed:stepLimit:choiceLimit:patience:_:)``. Such a schedule is not shrunk: it need not repeat.
  ///   - file: Where it is called, for the log.
  ///   - body: What to run. It must make everything that it uses anew.
  /// - Throws: ``ScheduleFailure``, which names the seed, and the choices that are enough.
  public static func explore(
    seeds count: Int = 1_000,
    stepLimit: Int = 200_000,
    patience: Duration = .zero,
    file: StaticString = #fileID,
    _ body: @escaping @Sendable (SeededExecutor) async throws -> Void
  ) throws(ScheduleFailure) {
    func failure(seed: UInt64, choiceLimit: Int) -> ScheduleFailure? {
      do throws(ScheduleFailure) {
        try SeededExecutor.run(
          seed: seed, stepLimit: stepLimit, choiceLimit: choiceLimit, patience: patience, body)
        return nil
      } catch {
        return error
      }
    }
    let choices = environment("CISTERN_CHOICES").map { Int(clamping: $0) }
    var ran = 0
    defer { ScheduleLog.add(file, ran) }
    for seed in seeds(count) {
      ran += 1
      guard let found = failure(seed: seed, choiceLimit: choices ?? .max) else { continue }
      guard choices == nil, patience == .zero else { throw found }
      throw found.shrunk { failure(seed: seed, choiceLimit: $0) }
    }
  }

  /// The seeds to try where a test asks for `count`: that many from 0 up, or what the environment says. For tests that
  /// are random and not concurrent.
  public static func seeds(_ count: Int) -> Range<UInt64> {
    if let only = environment("CISTERN_SEED") { return only..<(only + 1) }
    let first = environment("CISTERN_FIRST_SEED") ?? 0
    return first..<(first + (environment("CISTERN_SEEDS") ?? UInt64(count)))
  }

  /// The number that an environment variable holds; nil where it is not set.
  private static func environment(_ name: String) -> UInt64? {
    // The string is read at once; a test process does not change its environment meanwhile.
    guard let pointer = unsafe getenv(name) else { return nil }
    let text = unsafe String(cString: pointer)
    guard let number = UInt64(text) else {
      preconditionFailure("\(name) must be a number, and is \"\(text)\"")
    }
    return number
  }
}
