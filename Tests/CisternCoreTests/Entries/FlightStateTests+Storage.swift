import Testing

@testable import CisternCore

// The storage of a flight's waiters.

extension FlightStateTests {
  @Test func `a flight that does not complete reuses the storage of waiters that left`() {
    var state = FlightState<Int, Int>(priority: .low)
    var numbers: Set<Int> = []
    func join() -> Int {
      guard case .joined(let number, _) = state.join(Urgency(.low)) else { return -1 }
      Self.require(numbers.insert(number).inserted)
      if case .resume = state.wait(number, number) { Issue.record("the flight has not completed") }
      return number
    }
    let first = join()
    for _ in 0..<10_000 { Self.require(state.leave(join(), abandonment: .atOnce).resume != nil) }
    let last = join()
    #expect(state.waiters.count <= 65)
    #expect(state.remaining == 2)
    #expect(state.leave(first + 1, abandonment: .atOnce).resume == nil)
    #expect(state.complete(.value(5)).all == [first, last])
  }
}

extension FlightState.Completion {
  var all: [Continuation] { (first.map { [$0] } ?? []) + others }
}
