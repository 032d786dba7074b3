/// The assignment of jobs to the threads of a pool. A pure data structure, guarded by its owner's lock.
///
/// The first waiting job wakes or starts a thread. Each thread that takes a job does the same for the next job
/// before it runs its own. A caller that adds many jobs therefore wakes only one thread, and short jobs need few
/// threads. A job that blocks delays no other job while the number of threads is below the limit.
struct ThreadSchedule<Job> {
  /// The owner's next action, to be performed outside its lock.
  enum ThreadRequest: Equatable {
    case nothing
    /// Wake the idle thread with this number.
    case wake(Int)
    /// Start a thread with this number.
    case start(Int)
  }

  private let limit: Int
  /// The waiting jobs, behind places of jobs that were taken. A taken job must not stay here: it would be released
  /// under the owner's lock, together with the values that its closure holds.
  private var waiting: [Job?] = []
  /// The index of the oldest waiting job.
  private var head = 0
  /// The threads without a job. The newest is woken first.
  private var idle: [Int] = []
  /// The number of threads, including those that are being started.
  private(set) var count = 0
  private var lastNumber = 0
  /// Whether a woken or started thread has not requested a job yet.
  private var isOneComing = false

  init(limit: Int) {
    self.limit = limit
  }

  /// Adds a job after the waiting ones.
  mutating func add(_ job: Job) -> ThreadRequest {
    waiting.append(job)
    return requestThreadIfNeeded()
  }

  /// Returns the next job for a thread; if no job waits, returns nil and marks the thread as idle.
  ///
  /// - Parameters:
  ///   - number: The number of the thread.
  ///   - hasCome: Whether the thread was woken or started since its last request.
  ///   - unfinished: The job that the thread has partly run. It continues after the waiting jobs.
  /// - Returns: The job, or nil for none, and the request for another thread.
  mutating func next(
    for number: Int, hasCome: Bool, unfinished: Job? = nil
  ) -> (job: Job?, request: ThreadRequest) {
    if hasCome { isOneComing = false }
    if let unfinished { waiting.append(unfinished) }
    guard head < waiting.count else {
      waiting.removeAll(keepingCapacity: true)
      head = 0
      idle.append(number)
      return (nil, .nothing)
    }
    let job = waiting[head].take()
    head += 1
    if head >= 64, head >= waiting.count - head {
      waiting.removeFirst(head)
      head = 0
    }
    return (job, requestThreadIfNeeded())
  }

  /// Removes a thread that was idle for long enough. Returns false if the thread was already selected for a
  /// wake-up; it must then continue.
  mutating func retire(_ number: Int) -> Bool {
    guard let place = idle.firstIndex(of: number) else { return false }
    idle.remove(at: place)
    count -= 1
    return true
  }

  /// Reverts the start of a thread that failed. Returns the waiting jobs, which the owner must run elsewhere.
  mutating func startFailed() -> [Job] {
    count -= 1
    isOneComing = false
    defer {
      waiting = []
      head = 0
    }
    return waiting[head...].compactMap { $0 }
  }

  private mutating func requestThreadIfNeeded() -> ThreadRequest {
    guard head < waiting.count, !isOneComing else { return .nothing }
    if let number = idle.popLast() {
      isOneComing = true
      return .wake(number)
    }
    // If all threads are busy and their number is at the limit, the next free thread takes the job.
    guard count < limit else { return .nothing }
    isOneComing = true
    count += 1
    lastNumber += 1
    return .start(lastNumber)
  }
}
