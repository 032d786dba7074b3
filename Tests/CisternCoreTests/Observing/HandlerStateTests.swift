import Testing

@testable import CisternCore

@Suite struct HandlerStateTests {
  private typealias State = HandlerState

  private func change(_ number: UInt64) -> ErasedChange {
    ErasedChange(Change<String, Int>(number: ChangeNumber(number: number), event: .updated("key", Int(number))))
  }

  @Test func `a task is requested once, started once, and requested again after it stops`() {
    var state = State.idle(ChangeBuffer(.unbounded))
    #expect(state.start() == false)
    #expect(state.append(change(1)) == true)
    #expect(state.append(change(2)) == false)
    #expect(state.start() == true)
    #expect(state.start() == false)
    #expect(state.append(change(3)) == false)
    #expect(state.next()?.number == 1)
    #expect(state.next()?.number == 2)
    #expect(state.next()?.number == 3)
    #expect(state.append(change(4)) == false)
    #expect(state.next()?.number == 4)
    #expect(state.next() == nil)
    #expect(state.append(change(5)) == true)
    #expect(state.start() == true)
    #expect(state.next()?.number == 5)
  }

  @Test func `an ended state delivers nothing, whichever state it ended in`() {
    let idle = State.idle(ChangeBuffer(.unbounded))
    var due = idle
    _ = due.append(change(1))
    var telling = due
    _ = telling.start()
    for state in [idle, due, telling, .ended] {
      var state = state
      _ = state.end()
      #expect(state.append(change(2)) == false)
      #expect(state.start() == false)
      #expect(state.next() == nil)
    }
  }

  @Test func `changes that were not delivered are returned at the end, to be freed`() {
    var state = State.idle(ChangeBuffer(.unbounded))
    _ = state.append(change(1))
    guard case .due(let buffer) = state.end() else {
      Issue.record("the former state is due")
      return
    }
    #expect(buffer.count == 1)
  }
}
