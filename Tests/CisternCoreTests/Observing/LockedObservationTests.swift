import CisternTestSupport
import CisternTesting
import Testing

@testable import CisternCore

/// No object of the user is released under a lock of observers, of their threads, or of reports. The objects in these
/// tests use the cache, and would deadlock under a lock.
struct LockedObservationTests {
  @Test func `a job is released when it has run, although later jobs wait`() {
    var schedule = ThreadSchedule<Visitor>(limit: 1)
    let gone = Recorder<Bool>()
    _ = schedule.add(Visitor { gone.record(true) })
    _ = schedule.add(Visitor {})
    _ = schedule.next(for: 1, hasCome: true)
    #expect(gone.count == 1)
    #expect(schedule.startFailed().count == 1)
  }

  @Test func `a key of two observers can write to the cache when it is released after the last observer`() throws {
    let cache = try Cache<CarryingKey, Int>(costLimit: 10, configuration: .ignoringMemoryPressure)
    let gone = Recorder<Bool>()
    // A write to a cache without observers takes no lock.
    let others = cache.observe { _ in }
    let second: ObservationToken
    do {
      let visitor = Visitor { [weak cache] in
        cache?[CarryingKey(number: 2)] = 1
        gone.record(true)
      }
      let first = cache.observe(.key(CarryingKey(number: 1, carried: visitor))) { _ in }
      second = cache.observe(.key(CarryingKey(number: 1))) { _ in }
      first.cancel()
    }
    #expect(gone.count == 0, "the observers have one copy of the key")
    second.cancel()
    #expect(gone.count == 1)
    others.cancel()
  }

  private struct CarryingError: Error {
    let carried: Visitor
  }

  @Test func `an error can read the reports when it is released with the oldest report`() {
    let log = ReportLog()
    let gone = Recorder<Int>()
    do {
      let error = CarryingError(carried: Visitor { [unowned log] in gone.record(log.newest.count) })
      log.add(StoreReport(.notDecodable, "a report", location: "a cache", cause: error))
    }
    for _ in 0..<99 { log.add(StoreReport(.notDecodable, "a report", location: "a cache")) }
    #expect(gone.count == 0)
    log.add(StoreReport(.notDecodable, "a report", location: "a cache"))
    #expect(gone.elements == [100])
  }
}
