import Testing

@testable import CisternCore

/// A flight and its waiters, in all sequences of events up to a depth, compared with a simple model.
struct FlightStateTests {
  /// A faster replacement of `#expect` for a large number of sequences.
  static func require(_ isSo: Bool, line: Int = #line) {
    if !isSo { Issue.record("line \(line)") }
  }

  private enum Event {
    case join(TaskPriority)
    case raise(TaskPriority)
    case wait(Int)
    case leave(Int)
    case complete
    case leaveKeeping(Int)
    case timeOut(Int)
    case withdraw(Int)
    case returnWaiters
    case announce
    case withdrawAnnouncement
    case abandonWithWork
  }

  private enum Ending: Equatable {
    case completed
    case announced
    case cancelled
    case sentBack
  }

  /// The model of a waiter, with its actions and the results with which it was resumed.
  private struct Waiter {
    var waits = false
    var left = false
    /// Whether the waiter was sent back to look up the key again. It may not be resumed yet.
    var isSentBack = false
    /// Whether the waiter withdrew. It then never waits.
    var isWithdrawn = false
    var endings: [Ending] = []

    var isDone: Bool { left || isSentBack || isWithdrawn || !endings.isEmpty }
  }

  private struct Model {
    var waiters: [Waiter] = []
    var hasLanded = false
    var isAbandoned = false
    /// Whether the last waiter left and other flights still need the work.
    var isUnattended = false
    var isKept = false
    var isAnnounced = false
    /// Whether the announced value was withdrawn.
    var isAnnouncementWithdrawn = false
    var priority = TaskPriority.low
  }

  /// A point in a sequence of events, with the state machine and its model.
  private struct Point {
    var state = FlightState<Int, Int>(priority: .low)
    var model = Model()
    let abandonment: Abandonment
    /// Whether the events include withdrawing, sending back, and leaving the flight to the cache.
    var isWide = false

    /// Returns the events that callers can cause at this point.
    func events(waiterLimit: Int) -> [Event] {
      var events: [Event] = [.raise(.high)]
      if model.waiters.count < waiterLimit { events += [.join(.low), .join(.medium)] }
      if !model.hasLanded { events.append(.complete) }
      for (number, waiter) in model.waiters.enumerated() {
        if !waiter.waits, !waiter.isWithdrawn { events.append(.wait(number)) }
        events.append(.leave(number))
        guard isWide else { continue }
        events += [.leaveKeeping(number), .timeOut(number)]
        if !waiter.waits, !waiter.isWithdrawn { events.append(.withdraw(number)) }
      }
      if isWide { events += [.returnWaiters, .announce, .withdrawAnnouncement] }
      if case .withWork = abandonment { events.append(.abandonWithWork) }
      return events
    }

    mutating func apply(_ event: Event) {
      let before = state.urgency
      switch event {
      case .join(let priority): join(priority)
      case .raise(let priority):
        let raised = state.raise(to: Urgency(priority))
        let expected = isFlying && priority > model.priority ? priority : nil
        require(raised?.priority == expected)
        model.priority = expected ?? model.priority
      case .wait(let number): wait(number)
      case .leave(let number): leave(number)
      case .leaveKeeping(let number): leave(number, keeps: true)
      case .timeOut(let number): leave(number, timesOut: true)
      case .withdraw(let number): withdraw(number)
      case .returnWaiters: returnWaiters()
      case .complete: complete()
      case .announce: announce()
      case .withdrawAnnouncement:
        _ = state.withdrawAnnouncement()
        if model.isAnnounced { model.isAnnouncementWithdrawn = true }
      case .abandonWithWork: abandonWithWork()
      }
      require(state.urgency >= before && state.urgency.priority == model.priority)
      require(state.remaining == model.waiters.count { !$0.isDone } + (model.isKept && isFlying ? 1 : 0))
      for waiter in model.waiters { require(waiter.endings.count <= 1) }
    }

    private func require(_ isSo: Bool, line: Int = #line) { FlightStateTests.require(isSo, line: line) }

    private var isFlying: Bool { !model.hasLanded && !model.isAbandoned }
    /// Whether a waiter gets the announced value.
    private var showsEarly: Bool { model.isAnnounced && !model.isAnnouncementWithdrawn }

    private mutating func join(_ priority: TaskPriority) {
      var decision = state.join(Urgency(priority))
      if case .unattended = decision {
        require(model.isUnattended && isFlying)
        attend()
        decision = state.join(Urgency(priority))
      }
      switch decision {
      case .unattended:
        require(false)
      case .refused:
        require(model.isAbandoned || (model.hasLanded && model.waiters.allSatisfy(\.isDone)))
      case .joined(let number, let raised):
        require(!model.isAbandoned && !model.isUnattended && number == model.waiters.count)
        let expected = isFlying && priority > model.priority ? priority : nil
        require(raised?.priority == expected)
        model.priority = expected ?? model.priority
        model.waiters.append(Waiter())
      }
    }

    /// The work counts the flight again.
    private mutating func attend() {
      state.attend()
      model.isUnattended = false
    }

    private mutating func abandonWithWork() {
      // The work is cancelled only if none of its flights has waiters.
      let abandons = model.isUnattended && isFlying
      require(state.abandonIfUnattended() == abandons)
      if abandons { model.isAbandoned = true }
    }

    /// Notes in the model that a waiter left.
    private mutating func note(leavesWork: Bool, isLast: Bool) {
      switch abandonment {
      case .never: require(!leavesWork)
      case .atOnce:
        require(leavesWork == isLast)
        if isLast { model.isAbandoned = true }
      case .withWork:
        require(leavesWork == isLast)
        if isLast { model.isUnattended = true }
      }
    }

    private mutating func wait(_ number: Int) {
      model.waiters[number].waits = true
      var other = state
      let taken = other.takeOutcome(of: number)
      let decision = state.wait(number, number)
      require(decision.resumes(with: taken) && other.remaining == state.remaining)
      switch decision {
      case .suspended:
        require(isFlying && !showsEarly && !model.waiters[number].left)
      case .resume(.early(let value)):
        require(isFlying && showsEarly && !model.waiters[number].left && value == 7)
        model.waiters[number].endings.append(.announced)
      case .resume(.value(let value)):
        require(model.hasLanded && !model.waiters[number].left && value == 5)
        model.waiters[number].endings.append(.completed)
      case .resume(.failed), .resume(.timedOut):
        require(model.waiters[number].left)
        model.waiters[number].endings.append(.cancelled)
      case .resume(.lookAgain):
        require(model.waiters[number].isSentBack)
        model.waiters[number].endings.append(.sentBack)
      case .resume(.absent):
        require(false)
      }
    }

    private mutating func withdraw(_ number: Int) {
      let leavesWork = state.withdraw(number, abandonment: abandonment)
      let wasDone = model.waiters[number].isDone
      model.waiters[number].isWithdrawn = true
      let isLast = !wasDone && model.waiters.allSatisfy(\.isDone) && !model.isKept && isFlying
      note(leavesWork: leavesWork, isLast: isLast)
    }

    private mutating func returnWaiters() {
      let resumed = state.returnWaiters(with: .lookAgain)
      let others = model.waiters.indices.filter { $0 > 0 && !model.waiters[$0].isDone }
      require(resumed == (isFlying ? others.filter { model.waiters[$0].waits } : []))
      guard isFlying else { return }
      for number in others { model.waiters[number].isSentBack = true }
      for number in resumed { model.waiters[number].endings.append(.sentBack) }
    }

    private mutating func leave(_ number: Int, keeps: Bool = false, timesOut: Bool = false) {
      let waiter = model.waiters[number]
      let isAwaited = state.isAwaited(by: number)
      require(isAwaited == (!waiter.isDone && isFlying && !showsEarly))
      let outcome = timesOut ? FlightOutcome<Int>.timedOut(stale: nil) : .failed(CancellationError())
      let decision = state.leave(number, with: outcome, abandonment: abandonment, keepingFlight: keeps)
      // If the result is already known, a waiter that has not waited yet can still receive it. If its time is up, that
      // is so for an announced value, too.
      let leaves = !waiter.isDone && (isFlying || waiter.waits) && !(timesOut && showsEarly)
      require((decision.resume != nil) == (leaves && waiter.waits))
      if leaves { model.waiters[number].left = true }
      if leaves, keeps, isFlying { model.isKept = true }
      if let resumed = decision.resume {
        require(resumed == number)
        model.waiters[number].endings.append(.cancelled)
      }
      let isLast = leaves && model.waiters.allSatisfy(\.isDone) && !model.isKept
      note(leavesWork: decision.leavesWork, isLast: isLast)
    }

    private mutating func announce() {
      if model.isUnattended, isFlying {
        require(state.announce(7).map(\.count) == nil)
        attend()
      }
      let resumed = state.announce(7)?.all
      let waiting = model.waiters.indices.filter { model.waiters[$0].waits && !model.waiters[$0].isDone }
      require(resumed == (isFlying && !model.isAnnounced ? waiting : nil))
      guard let resumed else { return }
      model.isAnnounced = true
      model.isKept = true
      for number in resumed { model.waiters[number].endings.append(.announced) }
    }

    private mutating func complete() {
      let resumed = state.complete(.value(5)).all
      let waiting = model.waiters.indices.filter { model.waiters[$0].waits && !model.waiters[$0].isDone }
      require(resumed == (model.isAbandoned ? [] : waiting))
      for number in resumed { model.waiters[number].endings.append(.completed) }
      if !model.isAbandoned { model.hasLanded = true }
    }

    /// Completes the flight, and checks that each waiter was resumed exactly once.
    mutating func finish() {
      if isFlying { complete() }
      for number in model.waiters.indices where !model.waiters[number].waits && !model.waiters[number].isWithdrawn {
        wait(number)
      }
      for waiter in model.waiters where !waiter.isWithdrawn {
        if waiter.endings == [.announced] {
          require(model.isAnnounced && !waiter.left && !waiter.isSentBack)
        } else {
          require(waiter.endings == [waiter.left ? .cancelled : waiter.isSentBack ? .sentBack : .completed])
        }
      }
      require(state.remaining == 0)
    }
  }

  @Test(arguments: [Abandonment.never, .atOnce, .withWork])
  func
    `waiters that withdraw, are sent back, leave or get an announced value are resumed once and never end a kept flight`(
      abandonment: Abandonment
    )
  {
    let start = Point(abandonment: abandonment, isWide: true)
    #expect(explore(start, waiterLimit: 2, depth: 5) > 10_000)
  }

  @Test(arguments: [Abandonment.never, .atOnce, .withWork])
  func `in every order of events each waiter is resumed once, and no caller joins an abandoned flight`(
    abandonment: Abandonment
  ) {
    #expect(explore(Point(abandonment: abandonment), waiterLimit: 3, depth: 6) > 30_000)
  }

  /// Applies every sequence of events up to this depth, and lets the flight finish after each of them.
  ///
  /// - Returns: The number of sequences.
  private func explore(_ point: Point, waiterLimit: Int, depth: Int) -> Int {
    var ended = point
    ended.finish()
    guard depth > 0 else { return 1 }
    return point.events(waiterLimit: waiterLimit).reduce(1) { sequences, event in
      var next = point
      next.apply(event)
      return sequences + explore(next, waiterLimit: waiterLimit, depth: depth - 1)
    }
  }
}
