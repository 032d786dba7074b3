#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Functions that run one test under many interleavings.
///
///     @Test func `a removal during a load is not undone by it`() throws {
///       try SeededSchedule.explore { executor in
///         …
///         try #require(cache["key"] == nil)
///       }
///     }
///
/// A test reports a wrong schedule with a thrown error, as `#require` does. The failure then includes the seed. In
/// contrast, `#expect` records an issue without the seed, and the schedule continues.
///
/// These environment variables override the arguments of the tests:
///
/// - `CISTERN_SEEDS`: The number of seeds that each exploration tries.
/// - `CISTERN_SEEDS_PERCENT`: The percentage of its usual number of seeds that each exploration tries. It tries at
///   least ten of them.
/// - `CISTERN_FIRST_SEED`: The first seed.
/// - `CISTERN_SEED`: The only seed to try. Use it to investigate a failure.
/// - `CISTERN_CHOICES`: The maximum number of choices that the seed makes.
/// - `CISTERN_SCHEDULE_LOG`: A file to which each exploration appends a line. The line has the test's source file,
///   a tab, and the number of schedules that ran.
public enum SeededSchedule {
  /// Runs a closure under each of several seeds, one after the other, on the calling thread.
  ///
  /// The method stops at the first failure. It then searches for the shortest prefix of the schedule's choices that
  /// also fails.
  ///
  /// - Parameters:
  ///   - count: The number of seeds, beginning with 0. Environment variables override it.
  ///   - stepLimit: The maximum number of jobs in a schedule.
  ///   - patience: The time to wait for jobs of other threads; see
  ///     ``SeededExecutor/run(seed:stepLimit:choiceLimit:patience:_:)``. If it is not zero, a schedule may not
  ///     repeat, so its failure is not reduced to a prefix.
  ///   - file: The source file of the caller, for the log.
  ///   - body: The closure to run. It must create all its objects anew.
  /// - Throws: ``ScheduleFailure`` with the seed, and the number of choices that is sufficient.
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

  /// Returns the seeds that a test tries. Use it for a test that is random, but not concurrent.
  ///
  /// - Parameter count: The number of seeds, beginning with 0. Environment variables override it.
  /// - Returns: The range of the seeds.
  public static func seeds(_ count: Int) -> Range<UInt64> {
    if let only = environment("CISTERN_SEED") { return only..<(only + 1) }
    let first = environment("CISTERN_FIRST_SEED") ?? 0
    return first..<(first + (environment("CISTERN_SEEDS") ?? share(of: UInt64(count))))
  }

  /// Returns the part of a test's seeds that `CISTERN_SEEDS_PERCENT` demands.
  private static func share(of count: UInt64) -> UInt64 {
    guard let percentage = environment("CISTERN_SEEDS_PERCENT") else { return count }
    return min(count, max(10, count * percentage / 100))
  }

  /// Returns the number in an environment variable, or nil if the variable is not set.
  private static func environment(_ name: String) -> UInt64? {
    // The string is copied immediately, and a test process does not change its environment concurrently.
    guard let pointer = unsafe getenv(name) else { return nil }
    let text = unsafe String(cString: pointer)
    // Sums and products of smaller numbers do not overflow.
    guard let number = UInt64(text), number < 1 << 48 else {
      preconditionFailure("\(name) must be a number below 2^48, and is \"\(text)\"")
    }
    return number
  }
}
