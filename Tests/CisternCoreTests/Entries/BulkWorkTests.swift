import CisternTesting
import Locking
import Testing

@testable import CisternCore

/// The work that the flights of a bulk load share, and the moment of its cancellation.
struct BulkWorkTests {
  /// A work with its flights, each of which has its leader.
  private final class Fixture: Sendable {
    let work = FlightWork(isHeldByCreator: true)
    let flights: [Flight<Int>]
    let task = Task<Void, any Error> { try await Gate().pass() }

    init(count: Int) {
      let work = work
      flights = (0..<count).map { _ in Flight(work: work, priority: .medium, kind: .init(.withWork)) }
      for flight in flights { _ = flight.join(Urgency(.medium)) }
    }

    /// Starts the task, and calls `cancelled` before the flights are abandoned.
    func run(_ cancelled: @escaping @Sendable () -> Void = {}) {
      work.attachBulk(task) { [flights] in
        cancelled()
        for flight in flights { flight.abandonIfUnattended() }
      }
      work.releaseByCreator()
    }

    deinit { task.cancel() }
  }

  /// Joins a flight. Returns nil if the flight takes no waiters.
  private static func join(_ flight: Flight<Int>) -> Int? {
    guard case .joined(let waiter, _) = flight.join(Urgency(.medium)) else { return nil }
    return waiter
  }

  @Test func `the work is cancelled with the last waiter of all flights, in every order of joins and leaves`() {
    for seed in 0..<2_000 as Range<UInt64> {
      var generator = SeededGenerator(seed: seed)
      let fixture = Fixture(count: 3)
      var waiters = fixture.flights.map { _ in [Flight<Int>.leader] }
      var isHeld = true
      for _ in 0..<30 {
        let index = generator.next(below: 3)
        let flight = fixture.flights[index]
        switch generator.next(below: 8) {
        case 0 where isHeld:
          isHeld = false
          fixture.run()
        case 1...3:
          let waiter = Self.join(flight)
          #expect((waiter == nil) == fixture.work.isCancelled)
          if let waiter { waiters[index].append(waiter) }
        default:
          guard let waiter = waiters[index].popLast() else { continue }
          flight.withdraw(waiter)
        }
        #expect(fixture.work.isCancelled == (!isHeld && waiters.allSatisfy(\.isEmpty)), "seed \(seed)")
        for flight in fixture.flights { #expect(flight.isAbandoned == fixture.work.isCancelled) }
        #expect(fixture.task.isCancelled == fixture.work.isCancelled)
      }
    }
  }

  @Test func `while the entries of a cancelled work remain, no caller joins, and a load and a refresh start a flight`()
  {
    let fixture = Fixture(count: 2)
    let isChecked = Guarded(false)
    let (flights, task) = (fixture.flights, fixture.task)
    fixture.run {
      isChecked.withLock { $0 = true }
      // The task is cancelled after the entries were removed.
      #expect(!task.isCancelled)
      for flight in flights {
        #expect(Self.join(flight) == nil && flight.isAbandoned && !flight.announce(1))
        var entry: Entry<Int>? = .inProgress(flight)
        let decision = Entry.load(&entry, at: MonotonicTime(nanoseconds: 0), priority: .medium) {
          Flight(priority: .medium)
        }
        guard case .lead = decision else { return #expect(Bool(false), "the load did not lead") }
        entry = .inProgress(flight)
        let refresh = Entry.refresh(&entry, at: MonotonicTime(nanoseconds: 0)) { Flight(priority: .medium) }
        guard case .start = refresh else { return #expect(Bool(false), "the refresh did not start") }
      }
    }
    for flight in flights { flight.withdraw(Flight<Int>.leader) }
    #expect(isChecked.withLock { $0 } && fixture.task.isCancelled)
  }

  @Test func `a refresh declines while the work of a flight without waiters runs`() {
    let fixture = Fixture(count: 2)
    fixture.run()
    fixture.flights[0].withdraw(Flight<Int>.leader)
    var entry: Entry<Int>? = .inProgress(fixture.flights[0])
    let refresh = Entry.refresh(&entry, at: MonotonicTime(nanoseconds: 0)) { Flight(priority: .medium) }
    guard case .decline = refresh else { return #expect(Bool(false), "the refresh started") }
  }

  @Test(arguments: [false, true])
  func `a work releases its flights when it ends or is cancelled`(isCancelled: Bool) {
    weak var flight: Flight<Int>?
    weak var work: FlightWork?
    do {
      let fixture = Fixture(count: 2)
      (flight, work) = (fixture.flights[0], fixture.work)
      fixture.run()
      if isCancelled {
        for flight in fixture.flights { flight.withdraw(Flight<Int>.leader) }
      } else {
        for flight in fixture.flights { flight.complete(.value(1)) }
        fixture.work.end()
      }
    }
    #expect(flight == nil && work == nil)
  }

  @Test func `a task that ends before it is stored leaves no work to cancel`() {
    let fixture = Fixture(count: 1)
    fixture.flights[0].complete(.value(1))
    fixture.work.end()
    fixture.run { Issue.record("the work was cancelled") }
    #expect(!fixture.work.isCancelled && !fixture.task.isCancelled)
  }
}
