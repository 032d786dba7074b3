#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif
import Locking

/// A task executor that interleaves tasks by a seed: the same seed, the same interleaving, however many threads the
/// machine has.
///
/// Jobs that are ready wait in a bag. One thread, the one that called ``run(seed:stepLimit:choiceLimit:patience:_:)``, draws them by
/// a seeded generator and runs them one at a time. A task's every suspension is a chance for all the others.
///
///     let value = try SeededExecutor.run(seed: 42) { executor in
///       var configuration = Store.Configuration()
///       configuration.taskExecutor = executor       // flights and deliveries join the same bag
///       …
///     }
///
/// Tasks made inside the body follow: child tasks by themselves, unstructured ones (`Task { }`) when they are made with
/// `Task(executorPreference: executor)`. To shift a task in time, `await Task.yield()`.
///
/// **What comes from elsewhere.** A thread of its own, a real clock (`Task.sleep`) or another executor (the main actor)
/// is outside the seed's power. Its jobs are welcome in the bag at any time, from any thread, but the schedule is then
/// no longer exactly repeatable; and because an empty bag means a deadlock, it must be waited for explicitly: `patience`
/// says how long an empty bag is watched before it is called one. Jobs that come after the run has ended go to the
/// global concurrent pool, so that nothing which still waits for them hangs.
public final class SeededExecutor: TaskExecutor {
  /// What becomes of a job that is ready.
  private enum Phase {
    /// Once made, until the run ends: it waits in the bag.
    case running(bag: [UnownedJob], ChoiceSource)
    /// Once the run has ended: it goes to the global pool.
    case ended
  }

  private let phase: Guarded<Phase>

  /// The seed of this schedule.
  public let seed: UInt64

  private init(seed: UInt64, choiceLimit: Int) {
    self.seed = seed
    phase = Guarded(.running(bag: [], ChoiceSource(seed: seed, limit: choiceLimit)))
  }

  /// Takes a job that is ready. The concurrency runtime calls it, on any thread.
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

  /// Runs `body` and every task that it makes on this executor, interleaved by `seed`, on the calling thread; returns
  /// when the body has, and no job is left.
  ///
  /// - Parameters:
  ///   - seed: Determines the interleaving.
  ///   - stepLimit: The most jobs that are run before the schedule is called endless.
  ///   - choiceLimit: How often the seed chooses between jobs. From then on they run in turn: the prefix of a schedule,
  ///     to look into its failure.
  ///   - patience: How long an empty bag is watched for jobs from other threads before it is called a deadlock. With
  ///     zero, the default, it is one at once.
  ///   - body: What to run. It is given the executor. It inherits the caller's task-local values.
  /// - Returns: What `body` returned.
  /// - Throws: ``ScheduleFailure``, which names the seed: for what `body` threw, a deadlock, or too many jobs. After the
  ///   latter two, tasks that have not ended are abandoned as they are.
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

  /// Runs jobs until none is left or the limit is reached; the number of jobs that ran.
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

  /// Ends the run; whether jobs were left in the bag, and how often the seed has chosen.
  private func end() -> (isEndless: Bool, choices: Int) {
    phase.withLock { phase in
      guard case .running(let bag, let source) = phase else { return (false, 0) }
      phase = .ended
      return (!bag.isEmpty, source.count)
    }
  }
}
