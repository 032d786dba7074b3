import CisternTesting
import Testing

@testable import CisternCore

/// The state machine of the circuit breaker, in all sequences of events up to a depth and in long random ones, compared
/// with a model that keeps the whole history.
struct CircuitStateTests {
  private enum Event {
    case begin
    case end(Int, CircuitState.Result)
    case advance(seconds: UInt64)
  }

  /// The model of a call. Its results are counted when they are needed.
  private struct ModelCall {
    let epoch: Int
    let isProbe: Bool
    var result: CircuitState.Result?
    let call: CircuitState.Call

    func ended(_ wanted: CircuitState.Result) -> Bool {
      switch (result, wanted) {
      case (.success?, .success), (.failure?, .failure), (.cancelled?, .cancelled): true
      default: false
      }
    }
  }

  private struct Point {
    let breaker: CircuitBreaker
    var state: CircuitState
    var now: UInt64 = 100
    // The model: the epoch counts state changes.
    var epoch = 0
    var stateName = CircuitBreaker.State.closed
    var calls: [ModelCall] = []
    /// The results in the closed state of this epoch, in their order.
    var results: [(time: UInt64, isFailure: Bool)] = []
    var deadline: UInt64 = 0
    var length: UInt64

    init(_ breaker: CircuitBreaker) {
      self.breaker = breaker
      state = CircuitState(breaker)
      length = UInt64(breaker.openDuration.components.seconds)
    }

    private var time: MonotonicTime { Self.time(now) }

    private static func time(_ seconds: UInt64) -> MonotonicTime {
      MonotonicTime(nanoseconds: seconds * 1_000_000_000)
    }

    var running: [Int] { calls.indices.filter { calls[$0].result == nil } }

    func events(runningLimit: Int) -> [Event] {
      var events: [Event] = [.advance(seconds: 2)]
      if running.count < runningLimit { events.append(.begin) }
      for number in running { events += [.end(number, .success), .end(number, .failure), .end(number, .cancelled)] }
      return events
    }

    private func require(_ isSo: Bool, line: Int = #line) { if !isSo { Issue.record("line \(line)") } }

    private func probes(_ matches: (ModelCall) -> Bool) -> Int {
      calls.count { $0.epoch == epoch && $0.isProbe && matches($0) }
    }

    mutating func apply(_ event: Event) {
      switch event {
      case .advance(let seconds): now += seconds
      case .begin: begin()
      case .end(let number, let result): end(number, result)
      }
      switch state.phase {
      case .closed: require(stateName == .closed)
      case .open(let end): require(stateName == .open && end == Self.time(deadline))
      case .halfOpen(let inProgress, let succeeded, let end):
        require(stateName == .halfOpen && end == Self.time(deadline))
        require(inProgress == probes { $0.result == nil } && succeeded == probes { $0.ended(.success) })
      }
    }

    private mutating func change(to next: CircuitBreaker.State, _ transition: CircuitState.Transition?) {
      require(
        stateName == next ? transition == nil : transition == CircuitState.Transition(from: stateName, to: next))
      epoch += 1
      stateName = next
      results = []
      if next == .closed { length = UInt64(breaker.openDuration.components.seconds) }
      deadline = now + length
    }

    private mutating func doubleLength() {
      length = min(length * 2, UInt64(breaker.maximumOpenDuration.components.seconds))
    }

    private mutating func begin() {
      let isFull = probes { $0.result == nil || $0.ended(.success) } >= breaker.probeCount
      let isRejected = stateName == .open && now < deadline || stateName == .halfOpen && isFull && now < deadline
      require((state.rejection(at: time) != nil) == isRejected)
      let (admission, transition) = state.begin(at: time)
      guard case .admitted(let call) = admission else {
        let rejection = CircuitState.Rejection(end: Self.time(deadline), isProbing: stateName == .halfOpen)
        return require(isRejected && admission == .rejected(rejection) && transition == nil)
      }
      require(!isRejected && call.isProbe == (stateName != .closed))
      switch stateName {
      case .closed: require(transition == nil)
      case .open: change(to: .halfOpen, transition)
      case .halfOpen where isFull:
        doubleLength()
        change(to: .halfOpen, transition)
      case .halfOpen:
        require(transition == nil)
        deadline = now + length
      }
      calls.append(ModelCall(epoch: epoch, isProbe: call.isProbe, call: call))
    }

    private mutating func end(_ number: Int, _ result: CircuitState.Result) {
      let transition = state.end(calls[number].call, with: result, at: time)
      calls[number].result = result
      guard calls[number].epoch == epoch else { return require(transition == nil) }
      switch (stateName, result) {
      case (.closed, .success): results.append((now, false))
      case (.closed, .failure):
        results.append((now, true))
        if isExceeded { return change(to: .open, transition) }
      case (.halfOpen, .success):
        if probes({ $0.ended(.success) }) == breaker.probeCount { return change(to: .closed, transition) }
      case (.halfOpen, .failure):
        doubleLength()
        return change(to: .open, transition)
      case (.open, _), (_, .cancelled): break
      }
      require(transition == nil)
    }

    private var isExceeded: Bool {
      switch breaker.threshold.kind {
      case .consecutiveFailures(let count):
        return results.count >= count && results.suffix(count).allSatisfy(\.isFailure)
      case .failureShare(let share, let minimumCalls, let window):
        // The model's times are whole seconds, and its windows have ten intervals of whole seconds.
        let interval = UInt64(window.components.seconds) / 10
        let recent = results.filter { now / interval - $0.time / interval < 10 }
        let failures = recent.count { $0.isFailure }
        return recent.count >= minimumCalls && Double(failures) >= share * Double(recent.count)
      }
    }
  }

  private static let breakers = [
    CircuitBreaker(
      opensAfter: .consecutiveFailures(1), openDuration: .seconds(2), maximumOpenDuration: .seconds(6)),
    CircuitBreaker(
      opensAfter: .consecutiveFailures(2), openDuration: .seconds(2), maximumOpenDuration: .seconds(4), probeCount: 2),
    CircuitBreaker(
      opensAfter: .failureShare(0.5, minimumCalls: 2, within: .seconds(10)), openDuration: .seconds(2),
      maximumOpenDuration: .seconds(4)),
  ]

  private static func explore(_ point: Point, depth: Int, _ count: inout Int) {
    count += 1
    guard depth > 0 else { return }
    for event in point.events(runningLimit: 2) {
      var next = point
      next.apply(event)
      explore(next, depth: depth - 1, &count)
    }
  }

  @Test(arguments: breakers.indices)
  func `every sequence of events up to a depth agrees with the model`(index: Int) {
    var count = 0
    Self.explore(Point(Self.breakers[index]), depth: 8, &count)
    #expect(count > 10_000)
  }

  @Test(arguments: breakers.indices)
  func `long random sequences of events agree with the model`(index: Int) {
    var reached: Set<CircuitBreaker.State> = []
    for seed in SeededSchedule.seeds(200) {
      var generator = SeededGenerator(seed: seed)
      var point = Point(Self.breakers[index])
      for _ in 0..<200 {
        let events = point.events(runningLimit: 4)
        point.apply(events[generator.next(below: events.count)])
        reached.insert(point.stateName)
      }
    }
    #expect(reached.count == 3)
  }

  @Test func `a call leaves the window after ten intervals`() {
    var window = CallWindow(length: 10_000_000_000)
    func time(_ seconds: UInt64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }
    window.add(isFailure: true, at: time(5))
    window.add(isFailure: false, at: time(6))
    #expect(window.counts(at: time(14)) == (2, 1))
    #expect(window.counts(at: time(15)) == (1, 0))
    window.add(isFailure: true, at: time(15))
    #expect(window.counts(at: time(15)) == (2, 1))
    #expect(window.counts(at: time(100)) == (0, 0))
  }

  @Test func `the open time doubles up to the maximum, and a long run of failed probes does not overflow`() {
    let breaker = CircuitBreaker(
      opensAfter: .consecutiveFailures(1), openDuration: .seconds(1), maximumOpenDuration: .seconds(60))
    var (state, now, waits) = (CircuitState(breaker), MonotonicTime(nanoseconds: 0), [UInt64]())
    for _ in 0..<80 {
      guard case .admitted(let call) = state.begin(at: now).admission else { return #expect(Bool(false)) }
      _ = state.end(call, with: .failure, at: now)
      guard case .open(let end) = state.phase else { return #expect(Bool(false)) }
      waits.append((end.nanoseconds - now.nanoseconds) / 1_000_000_000)
      now = end
    }
    #expect(waits.prefix(8) == [1, 2, 4, 8, 16, 32, 60, 60] && waits.last == 60)
  }

  @Test func `a retry policy does not repeat a rejected call`() {
    let rejection = CircuitRejection(
      CircuitState.Rejection(end: MonotonicTime(nanoseconds: 5), isProbing: false), at: MonotonicTime(nanoseconds: 0))
    let policy = RetryPolicy(attempts: 3)
    #expect(!policy.retries(rejection, attempt: 1))
    #expect(!policy.retries(rejection.error(location: "a load inside the fetch"), attempt: 1))
    #expect(policy.retries(LoadCycle(), attempt: 1))
  }
}
