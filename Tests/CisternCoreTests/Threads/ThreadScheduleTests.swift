import CisternTesting
import Testing

@testable import CisternCore

struct ThreadScheduleTests {
  /// A reference to a schedule, so that expectations may change it.
  private final class Schedule {
    typealias ThreadRequest = ThreadSchedule<Int>.ThreadRequest
    private var schedule: ThreadSchedule<Int>

    init(limit: Int) { schedule = ThreadSchedule(limit: limit) }

    var count: Int { schedule.count }
    func add(_ job: Int) -> ThreadRequest { schedule.add(job) }
    func next(for number: Int, hasCome: Bool, unfinished: Int? = nil) -> (job: Int?, request: ThreadRequest) {
      schedule.next(for: number, hasCome: hasCome, unfinished: unfinished)
    }
    func retire(_ number: Int) -> Bool { schedule.retire(number) }
    func startFailed() -> [Int] { schedule.startFailed() }
  }

  @Test func `one thread is requested at a time, and each thread that takes a job requests the next`() {
    let schedule = Schedule(limit: 3)
    #expect(schedule.add(1) == .start(1))
    // The first thread is starting.
    for job in 2...5 { #expect(schedule.add(job) == .nothing) }
    #expect(schedule.next(for: 1, hasCome: true) == (1, .start(2)))
    #expect(schedule.next(for: 2, hasCome: true) == (2, .start(3)))
    // The limit is reached.
    #expect(schedule.next(for: 3, hasCome: true) == (3, .nothing))
    #expect(schedule.count == 3)
    // The first idle thread takes the waiting jobs.
    #expect(schedule.next(for: 2, hasCome: false) == (4, .nothing))
    #expect(schedule.next(for: 2, hasCome: false) == (5, .nothing))
    #expect(schedule.next(for: 2, hasCome: false) == (nil, .nothing))
  }

  @Test func `an idle thread is woken before another starts, and ends after its idle time`() {
    let schedule = Schedule(limit: 8)
    #expect(schedule.add(1) == .start(1))
    #expect(schedule.next(for: 1, hasCome: true) == (1, .nothing))
    #expect(schedule.next(for: 1, hasCome: false) == (nil, .nothing))
    #expect(schedule.add(2) == .wake(1))
    // The thread was summoned before it could end.
    #expect(!schedule.retire(1))
    #expect(schedule.next(for: 1, hasCome: true) == (2, .nothing))
    #expect(schedule.next(for: 1, hasCome: false) == (nil, .nothing))
    #expect(schedule.retire(1) && schedule.count == 0)
    #expect(schedule.add(3) == .start(2))
  }

  @Test func `an unfinished job continues after the waiting jobs`() {
    let schedule = Schedule(limit: 1)
    _ = schedule.add(1)
    _ = schedule.add(2)
    #expect(schedule.next(for: 1, hasCome: true) == (1, .nothing))
    #expect(schedule.next(for: 1, hasCome: false, unfinished: 1) == (2, .nothing))
    #expect(schedule.next(for: 1, hasCome: false) == (1, .nothing))
  }

  @Test func `if no thread can start, the waiting jobs are returned, and the next job tries again`() {
    let schedule = Schedule(limit: 2)
    #expect(schedule.add(1) == .start(1))
    #expect(schedule.add(2) == .nothing)
    #expect(schedule.startFailed() == [1, 2] && schedule.count == 0)
    #expect(schedule.add(3) == .start(2))
  }

  @Test func `in any order of events each job runs once, and a waiting job has a thread unless all are busy`() {
    for seed in 0..<500 as Range<UInt64> {
      var generator = SeededGenerator(seed: seed)
      let limit = 1 + generator.next(below: 4)
      let schedule = Schedule(limit: limit)
      var coming: [Int] = []
      var busy: [(thread: Int, job: Int)] = []
      var idle: [Int] = []
      var (added, done) = (0, Set<Int>())
      func answer(_ request: Schedule.ThreadRequest) {
        switch request {
        case .nothing: break
        case .start(let number): coming.append(number)
        case .wake(let number):
          #expect(idle.contains(number))
          idle.removeAll { $0 == number }
          coming.append(number)
        }
      }
      func take(_ thread: Int, hasCome: Bool, unfinished: Int? = nil) {
        let (job, request) = schedule.next(for: thread, hasCome: hasCome, unfinished: unfinished)
        if let job { busy.append((thread, job)) } else { idle.append(thread) }
        answer(request)
      }
      for step in 0..<400 {
        switch generator.next(below: step < 250 ? 5 : 4) {
        case 0:
          guard !coming.isEmpty else { continue }
          take(coming.remove(at: generator.next(below: coming.count)), hasCome: true)
        case 1, 2:
          guard !busy.isEmpty else { continue }
          let (thread, job) = busy.remove(at: generator.next(below: busy.count))
          if generator.next(below: 4) == 0 {
            take(thread, hasCome: false, unfinished: job)
          } else {
            #expect(done.insert(job).inserted)
            take(thread, hasCome: false)
          }
        case 3:
          guard let thread = idle.first else { continue }
          if schedule.retire(thread) { idle.removeFirst() }
        default:
          added += 1
          answer(schedule.add(added))
        }
        #expect(
          coming.count <= 1 && schedule.count == coming.count + busy.count + idle.count && schedule.count <= limit)
        let waiting = added - done.count - busy.count
        #expect(waiting == 0 || !coming.isEmpty || busy.count == limit)
      }
    }
  }
}
