/// Which thread of a pool runs which job: pure, its owner has the lock.
///
/// A thread is woken or started for the first job that waits, and each thread that takes a job does the same for the next one
/// before it runs its own. So a caller that adds many jobs pays for one thread, jobs that are short need few threads, and a job
/// that blocks holds up no other while there are fewer threads than the limit.
struct ThreadSchedule<Job> {
  /// The owner's next action, outside its lock.
  enum Summons: Equatable {
    case nothing
    /// Wake the idle thread with this number.
    case wake(Int)
    /// Start a thread with this number.
    case start(Int)
  }

  private let limit: Int
  private var waiting: [Job] = []
  /// The place of the oldest job that waits.
  private var head = 0
  /// The threads without a job. The newest is the first to be woken.
  private var idle: [Int] = []
  /// The threads that there are, and those being started.
  private(set) var count = 0
  private var lastNumber = 0
  /// Whether a thread was woken or started that has not asked for a job yet.
  private var isOneComing = false

  init(limit: Int) {
    self.limit = limit
  }

  /// A job is to run, after those that wait.
  mutating func add(_ job: Job) -> Summons {
    waiting.append(job)
    return summonIfNeeded()
  }

  /// A thread asks for a job; nil makes the thread idle.
  ///
  /// - Parameters:
  ///   - number: the thread's.
  ///   - hasCome: whether it was woken or started since it last asked.
  ///   - unfinished: the job that it ran a part of, which goes on after those that wait.
  mutating func next(
    for number: Int, hasCome: Bool, unfinished: Job? = nil
  ) -> (job: Job?, summons: Summons) {
    if hasCome { isOneComing = false }
    if let unfinished { waiting.append(unfinished) }
    guard head < waiting.count else {
      waiting.removeAll(keepingCapacity: true)
      head = 0
      idle.append(number)
      return (nil, .nothing)
    }
    let job = waiting[head]
    head += 1
    if head >= 64, head >= waiting.count - head {
      waiting.removeFirst(head)
      head = 0
    }
    return (job, summonIfNeeded())
  }

  /// A thread was idle for long enough. Whether it ends; else it has been woken, and its wake-up is on its way.
  mutating func retire(_ number: Int) -> Bool {
    guard let place = idle.firstIndex(of: number) else { return false }
    idle.remove(at: place)
    count -= 1
    return true
  }

  /// A thread could not be started. Answers the jobs that wait, which have to run elsewhere.
  mutating func startFailed() -> [Job] {
    count -= 1
    isOneComing = false
    defer {
      waiting = []
      head = 0
    }
    return Array(waiting[head...])
  }

  private mutating func summonIfNeeded() -> Summons {
    guard head < waiting.count, !isOneComing else { return .nothing }
    if let number = idle.popLast() {
      isOneComing = true
      return .wake(number)
    }
    // If all are busy, the first thread without a job takes it.
    guard count < limit else { return .nothing }
    isOneComing = true
    count += 1
    lastNumber += 1
    return .start(lastNumber)
  }
}
