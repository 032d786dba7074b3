#if canImport(ObjectiveC)
  import ObjectiveC
#endif
import Eviction
import Locking

/// The threads that run observers' handlers, shared by all caches of the process. Handlers may block, and a thread
/// of the cooperative pool must not. Threads start on demand up to a limit, and end after an idle time.
final class HandlerThreads: Sendable {
  static let shared = HandlerThreads(limit: MemorySizing.handlerThreadLimit)

  /// A closure that performs a part of a job. Returns whether more work remains.
  typealias Job = @Sendable () -> Bool

  private struct State {
    var schedule: ThreadSchedule<Job>
    /// The wake-up flags of the threads, by thread number.
    var threads: [Int: Monitor<Bool>] = [:]
  }

  private let state: Guarded<State>
  private let idleNanoseconds: UInt64

  init(limit: Int, idleNanoseconds: UInt64 = 5_000_000_000) {
    self.idleNanoseconds = idleNanoseconds
    state = Guarded(State(schedule: ThreadSchedule(limit: limit)))
  }

  /// The number of threads.
  var count: Int { state.withLock { $0.schedule.count } }

  /// Schedules a job. The threads call `job` until it returns false, and run other jobs between its calls.
  func run(_ job: @escaping Job) {
    answer(state.withLock { $0.schedule.add(job) })
  }

  private func answer(_ request: ThreadSchedule<Job>.ThreadRequest) {
    switch request {
    case .nothing:
      break
    case .wake(let number):
      state.withLock { $0.threads[number] }?.change { $0 = true }
    case .start(let number):
      let isWoken = Monitor(false)
      state.withLock { $0.threads[number] = isWoken }
      do {
        try SystemThread.start { [self] in work(as: number, isWoken) }
      } catch {
        runElsewhere(number)
      }
    }
  }

  /// Runs the waiting jobs in tasks, because the system cannot create another thread.
  private func runElsewhere(_ number: Int) {
    let jobs = state.withLock { state in
      state.threads[number] = nil
      return state.schedule.startFailed()
    }
    for job in jobs {
      Task.detached {
        while job() { await Task.yield() }
      }
    }
  }

  /// The body of a thread.
  private func work(as number: Int, _ isWoken: Monitor<Bool>) {
    while true {
      runJobs(as: number)
      if !wait(for: isWoken), retire(number) { return }
      // A thread that cannot retire was already selected, so its wake-up follows.
      isWoken.wait { $0 ? () : nil }
      isWoken.withLock { $0 = false }
    }
  }

  /// Runs jobs on a started or woken thread until no job waits.
  private func runJobs(as number: Int) {
    var hasCome = true
    var unfinished: Job?
    while true {
      let (job, request) = state.withLock {
        $0.schedule.next(for: number, hasCome: hasCome, unfinished: unfinished)
      }
      hasCome = false
      unfinished = nil
      answer(request)
      guard let job else { return }
      #if canImport(ObjectiveC)
        let goesOn = autoreleasepool { job() }
      #else
        let goesOn = job()
      #endif
      if goesOn { unfinished = job }
    }
  }

  /// Waits until the thread is woken or its idle time has passed. Returns whether it was woken.
  private func wait(for isWoken: Monitor<Bool>) -> Bool {
    let deadline = monotonicNanoseconds() + idleNanoseconds
    return isWoken.wait(orUntil: { isWoken in
      if isWoken { return .done(true) }
      return monotonicNanoseconds() < deadline ? .waiting(until: deadline) : .done(false)
    })
  }

  private func retire(_ number: Int) -> Bool {
    state.withLock { state in
      guard state.schedule.retire(number) else { return false }
      state.threads[number] = nil
      return true
    }
  }
}
