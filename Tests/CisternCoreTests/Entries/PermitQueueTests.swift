import CisternTesting
import Testing

@testable import CisternCore

struct PermitQueueTests {
  @Test func `the waiter with the highest priority is admitted first, and equal priorities in arrival order`() {
    var queue = PermitQueue<String>(limit: 1)
    #expect(queue.enter(priority: .low) == .admitted)
    let names: [(String, TaskPriority)] = [("a", .low), ("b", .high), ("c", .low), ("d", .high), ("e", .medium)]
    var tickets: [String: PermitTicket] = [:]
    for (name, priority) in names {
      guard case .queued(let ticket) = queue.enter(priority: priority) else {
        Issue.record("the waiter was admitted")
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

  @Test func `a permit or a cancellation that precedes the wait is delivered immediately`() {
    var queue = PermitQueue<String>(limit: 1)
    _ = queue.enter(priority: .low)
    guard case .queued(let first) = queue.enter(priority: .low),
      case .queued(let second) = queue.enter(priority: .low)
    else {
      Issue.record("the waiter was admitted")
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

  @Test func `after random arrivals, escalations and cancellations the most urgent waiter is admitted next`() {
    let priorities: [TaskPriority] = [.background, .low, .medium, .high]
    for seed in SeededSchedule.seeds(300) {
      var generator = SeededGenerator(seed: seed)
      var queue = PermitQueue<PermitTicket>(limit: 1)
      _ = queue.enter(priority: .low)
      var waiting: [(ticket: PermitTicket, priority: TaskPriority)] = []
      for _ in 0..<200 {
        switch generator.next(below: 10) {
        case ..<5:
          let priority = priorities[generator.next(below: 4)]
          guard case .queued(let ticket) = queue.enter(priority: priority) else { break }
          #expect(queue.wait(ticket, ticket) == nil)
          waiting.append((ticket, priority))
        case 5, 6:
          guard !waiting.isEmpty else { break }
          let index = generator.next(below: waiting.count)
          let priority = priorities[generator.next(below: 4)]
          queue.raise(waiting[index].ticket, to: priority)
          waiting[index].priority = max(waiting[index].priority, priority)
        case 7:
          guard !waiting.isEmpty else { break }
          let gone = waiting.remove(at: generator.next(below: waiting.count))
          #expect(queue.cancel(gone.ticket) == gone.ticket)
        default:
          guard let most = waiting.map(\.priority).max() else { break }
          let next = waiting.remove(at: waiting.firstIndex { $0.priority == most }!)
          #expect(queue.leave() == next.ticket, "seed \(seed)")
        }
      }
    }
  }

  @Test func `cancelled waiters leave no storage behind, even if no permit is returned`() {
    var queue = PermitQueue<Int>(limit: 1)
    _ = queue.enter(priority: .low)
    for number in 0..<10_000 {
      guard case .queued(let ticket) = queue.enter(priority: .low) else { continue }
      #expect(queue.wait(ticket, number) == nil && queue.cancel(ticket) == number)
    }
    #expect(queue.queuedCount <= 65)
  }
}
