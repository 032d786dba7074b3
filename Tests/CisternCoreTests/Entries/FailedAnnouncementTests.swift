import CisternTestSupport
import Testing

@testable import CisternCore

/// Flights that announce a value, and fail before all of their waiters have suspended.
struct FailedAnnouncementTests {
  private typealias State = FlightState<Int, Int>

  private static func join(_ state: inout State) throws -> Int {
    guard case .joined(let waiter, _) = state.join(Urgency(.low)) else { throw Broken() }
    return waiter
  }

  @Test(arguments: [false, true])
  func `a waiter that suspends after the failure gets the announced value, unless it was withdrawn`(
    isWithdrawn: Bool
  ) throws {
    var state = State(priority: .low)
    let waiter = try Self.join(&state)
    try #require(state.announce(7) != nil)
    if isWithdrawn { _ = state.withdrawAnnouncement() }
    _ = state.complete(.failed(Broken()))
    switch state.wait(waiter, 0) {
    case .resume(.early(let value)): #expect(value == 7 && !isWithdrawn)
    case .resume(.failed): #expect(isWithdrawn)
    default: Issue.record("the waiter has no result")
    }
  }

  @Test func `a waiter that suspends after the completion gets the fetched value`() throws {
    var state = State(priority: .low)
    let waiter = try Self.join(&state)
    try #require(state.announce(7) != nil)
    _ = state.complete(.value(5))
    guard case .resume(.value(5)) = state.wait(waiter, 0) else {
      Issue.record("the waiter has another result")
      return
    }
  }
}
