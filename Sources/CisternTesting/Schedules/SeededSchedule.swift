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
/// Two environment variables override what the tests ask for. `CISTERN_SEEDS=100000` sets how many seeds each
/// exploration tries. `CISTERN_SEED=1234` tries that one and no other, which is how a failure is looked into.
public enum SeededSchedule {
  /// Runs `body` under each of `count` seeds, on the calling thread, one after the other; stops at the first failure.
  ///
  /// - Parameters:
  ///   - count: How many seeds to try, from 0 up, unless the environment says otherwise.
  ///   - stepLimit: The most jobs that a schedule may take.
  ///   - patience: How long jobs of other threads are waited for; see ``SeededExecutor/run(seed:stepLimit:patience:_:)``.
  ///   - body: What to run. It must make everything that it uses anew.
  /// - Throws: ``ScheduleFailure``, which names the seed.
  public static func explore(
    seeds count: Int = 1_000,
    stepLimit: Int = 200_000,
    patience: Duration = .zero,
    _ body: @escaping @Sendable (SeededExecutor) async throws -> Void
  ) throws(ScheduleFailure) {
    for seed in seeds(count) {
      try SeededExecutor.run(seed: seed, stepLimit: stepLimit, patience: patience, body)
    }
  }

  /// The seeds to try where a test asks for `count`: that many from 0 up, or what the environment says. For tests that
  /// are random and not concurrent.
  public static func seeds(_ count: Int) -> Range<UInt64> {
    if let only = environment("CISTERN_SEED") { return only..<(only + 1) }
    return 0..<(environment("CISTERN_SEEDS") ?? UInt64(count))
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
