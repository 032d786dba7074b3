import Testing

@testable import Cistern

struct FlightQueueTests {
  @Test func `the highest priority goes first, and among equals who came first`() {
    var queue = FlightQueue<String>(limit: 1)
    #expect(queue.enter(priority: .low) == .admitted)
    let names: [(String, TaskPriority)] = [("a", .low), ("b", .high), ("c", .low), ("d", .high), ("e", .medium)]
    var tickets: [String: UInt64] = [:]
    for (name, priority) in names {
      guard case .queued(let ticket) = queue.enter(priority: priority) else {
        Issue.record("admitted")
        return
      }
      tickets[name] = ticket
      #expect(queue.wait(ticket, name) == nil)
    }
    queue.raise(tickets["c"]!, to: .high)
    #expect(queue.cancel(tickets["e"]!) == "e")
    #expect(queue.cancel(tickets["e"]!) == nil)
    #expect((0..<4).map { _ in queue.leave() } == ["b", "c", "d", "a"])
    #expect(queue.taken == 1)
    #expect(queue.leave() == nil)
    #expect(queue.taken == 0)
  }

  @Test func `a turn that comes, or a cancellation, before the waiting is told at once`() {
    var queue = FlightQueue<String>(limit: 1)
    _ = queue.enter(priority: .low)
    guard case .queued(let first) = queue.enter(priority: .low),
      case .queued(let second) = queue.enter(priority: .low)
    else {
      Issue.record("admitted")
      return
    }
    #expect(queue.leave() == nil)
    #expect(queue.cancel(second) == nil)
    #expect(queue.wait(first, "a") == true)
    #expect(queue.wait(second, "b") == false)
    #expect(queue.taken == 1)
    #expect(queue.leave() == nil)
    #expect(queue.taken == 0)
  }
}
