#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif
import Locking

/// A task executor that interleaves tasks by a seed. The same seed gives the same interleaving on every machine.
///
/// Jobs that are ready wait in a bag. The thread that called ``run(seed:stepLimit:choiceLimit:patience:_:)`` draws
/// them with a seeded generator, and runs them one at a time. Every suspension of a task lets other tasks run.
///
///     let value = try SeededExecutor.run(seed: 42) { executor in
///       var configuration = Store.Configuration()
///       configuration.taskExecutor = executor       // flights and deliveries join the same bag
///       …
///     }
///
/// Child tasks of the body run on the executor automatically. Create unstructured tasks with
/// `Task(executorPreference: executor)`. To delay a task, call `await Task.yield()`.
///
/// **Jobs from outside.** The seed does not control other threads, real clocks (`Task.sleep`), or other executors
/// (the main actor). They can add jobs to the bag at any time, but the schedule is then no longer exactly
/// repeatable.
///
/// Normally, an empty bag means a deadlock. If jobs come from outside, pass a `patience`: the executor watches an
/// empty bag for this time before it reports a deadlock. Jobs that arrive after the end of the run go to the global
/// concurrent pool, so that their waiters do not hang.
public final class SeededExecutor: TaskExecutor {
  /// The state that decides about a job that becomes ready.
  private enum Phase {
    /// The run has not ended: the job waits in the bag.
    case running(bag: [UnownedJob], ChoiceSource)
    /// The run has ended: the job goes to the global pool.
    case ended
  }

  private let phase: Guarded<Phase>

  /// The seed of the schedule.
  public let seed: UInt64

  private init(seed: UInt64, choiceLimit: Int) {
    self.seed = seed
    phase = Guarded(.running(bag: [], ChoiceSource(seed: seed, limit: choiceLimit)))
  }

  /// Accepts a job that is ready. The concurrency runtime calls it on any thread.
  ///
  /// - Parameter job: The job.
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let stays = phase.withLock { phase in
      guard case .running(var bag, let source) = phase else { return false }
      phase = .ended  // leaves the bag's storage to `bag` alone, so that appending copies nothing
      bag.append(job)
      phase = .running(bag: bag, source)
      return true
    }
    if !stays { globalConcurrentExecutor.enqueue(job) }
  }

  /// Runs a closure and all its tasks on the calling thread, interleaved by a seed.
  ///
  /// The method returns when the closure has returned, and no job is left.
  ///
  /// - Parameters:
  ///   - seed: The seed that determines the interleaving.
  ///   - stepLimit: The maximum number of jobs. A schedule with more jobs is an error.
  ///   - choiceLimit: The maximum number of times that the seed chooses between jobs. After that, the first job in
  ///     the bag always runs next. Use it to run a prefix of a failing schedule.
  ///   - patience: The time for which an empty bag is watched for jobs from other threads before it is a deadlock.
  ///     By default, an empty bag is a deadlock immediately.
  ///   - body: The closure to run. It receives the executor, and inherits the caller's task-local values.
  /// - Returns: The result of `body`.
  /// - Throws: ``ScheduleFailure`` with the seed, if `body` throws, if the schedule deadlocks, or if it reaches the
  ///   step limit. In the last two cases, unfinished tasks are abandoned.
  public static func run<Success: Sendable>(
    seed: UInt64,
    stepLimit: Int = 200_000,
    choiceLimit: Int = .max,
    patience: Duration = .zero,
    _ body: @escaping @Sendable (SeededExecutor) async throws -> Success
  ) throws(ScheduleFailure) -> Success {
    let executor = SeededExecutor(seed: seed, choiceLimit: choiceLimit)
    let outcome = Guarded<Result<Success, any Error>?>(nil)
    _ = Task(executorPreference: executor, priority: .medium) {
      let result: Result<Success, any Error>
      do { result = .success(try await body(executor)) } catch { result = .failure(error) }
      outcome.withLock { $0 = result }
    }

    let steps = executor.drain(upTo: stepLimit, patience: patience) { outcome.withLock { $0 != nil } }
    let (isEndless, choices) = executor.end()
    let cause: ScheduleFailure.Cause
    switch outcome.withLock({ $0 }) {
    case .failure(let error)?: cause = .thrown(error)
    case _ where isEndless: cause = .stepLimitReached
    case .success(let success)?: return success
    case nil: cause = .deadlock
    }
    throw ScheduleFailure(seed: seed, cause: cause, steps: steps, choices: choices)
  }

  /// Runs jobs until no job is left, or the step limit is reached. Returns the number of jobs that ran.
  private func drain(upTo stepLimit: Int, patience: Duration, isDone: () -> Bool) -> Int {
    var steps = 0
    while steps < stepLimit {
      guard let job = draw() ?? (isDone() ? nil : watchEmptyBag(for: patience)) else { break }
      unsafe job.runSynchronously(on: asUnownedTaskExecutor())
      steps += 1
    }
    return steps
  }

  private func draw() -> UnownedJob? {
    phase.withLock { phase in
      guard case .running(var bag, var source) = phase, !bag.isEmpty else { return nil }
      phase = .ended  // as in `enqueue(_:)`
      let job = source.take(from: &bag)
      phase = .running(bag: bag, source)
      return job
    }
  }

  private func watchEmptyBag(for patience: Duration) -> UnownedJob? {
    guard patience > .zero else { return nil }
    let deadline = ContinuousClock.now.advanced(by: patience)
    repeat {
      usleep(50)
      if let job = draw() { return job }
    } while ContinuousClock.now < deadline
    return nil
  }

  /// Ends the run. Returns whether jobs were left in the bag, and the number of choices that the seed made.
  private func end() -> (isEndless: Bool, choices: Int) {
    phase.withLock { phase in
      guard case .running(let bag, let source) = phase else { return (false, 0) }
      phase = .ended
      return (!bag.isEmpty, source.count)
    }
  }
}
