import Testing

@testable import CisternCore

@Suite struct IteratorStateTests {
  /// In these tests, a waiter is a number.
  private typealias State = IteratorState<Int>

  private func change(_ number: UInt64) -> ErasedChange {
    ErasedChange(Change<String, Int>(number: ChangeNumber(number: number), event: .updated("key", Int(number))))
  }

  private var open: State { .open(ChangeBuffer(.bounded(2))) }

  private func number(_ next: State.Next) -> UInt64? {
    if case .change(let change) = next { change.number } else { nil }
  }

  private func isEnd(_ next: State.Next) -> Bool {
    if case .end = next { true } else { false }
  }

  private func isNothing(_ next: State.Next) -> Bool {
    if case .nothing = next { true } else { false }
  }

  @Test func `buffered changes are available immediately and in order`() {
    var state = open
    #expect(state.append(change(1)) == false)
    #expect(state.append(change(2)) == false)
    #expect(number(state.next()) == 1)
    #expect(number(state.next()) == 2)
    #expect(isNothing(state.next()) == true)
  }

  @Test func `a waiter gets the next change, once`() {
    var state = open
    #expect(state.wait(7).changes.count == 0)
    #expect(state.append(change(1)) == true)
    let handover = state.deliverDeferred()
    #expect(handover.changes.map(\.0) == [7] && handover.changes.map(\.1.number) == [1])
    #expect(state.deliverDeferred().changes.count == 0)
    #expect(isNothing(state.next()) == true)
  }

  @Test func `a change between a request and its wait is not missed`() {
    var state = open
    #expect(isNothing(state.next()) == true)
    #expect(state.append(change(1)) == false)
    let handover = state.wait(7)
    #expect(handover.changes.map(\.0) == [7])
  }

  @Test func `several waiters are served in order, and no request overtakes them`() {
    var state = open
    _ = state.wait(7)
    _ = state.wait(8)
    _ = state.append(change(1))
    #expect(isNothing(state.next()) == true)
    #expect(state.deliverDeferred().changes.map(\.0) == [7])
    _ = state.append(change(2))
    _ = state.append(change(3))
    let handover = state.deliverDeferred()
    #expect(handover.changes.map(\.0) == [8] && handover.changes.map(\.1.number) == [2])
    #expect(number(state.next()) == 3)
  }

  @Test func `displaced changes are returned, and their append requests a handover`() {
    var state = open
    _ = state.append(change(1))
    _ = state.append(change(2))
    #expect(state.append(change(3)) == true)
    #expect(state.deliverDeferred().displaced.map(\.number) == [1])
    #expect(number(state.next()) == 2)
  }

  @Test func `when the cache ends, buffered changes come first`() {
    var state = open
    _ = state.append(change(1))
    _ = state.finish()
    #expect(state.append(change(2)) == false)
    #expect(number(state.next()) == 1)
    #expect(isEnd(state.next()) == true)
    #expect(state.wait(7).ends == [7])

    var other = open
    _ = other.append(change(1))
    _ = other.finish()
    #expect(other.wait(7).changes.map(\.0) == [7])
    #expect(other.wait(8).ends == [8])
  }

  @Test func `when the cache ends, a waiter gets the pending change or the end`() {
    var state = open
    _ = state.wait(7)
    _ = state.wait(8)
    _ = state.append(change(1))
    let handover = state.finish()
    #expect(handover.changes.map(\.0) == [7])
    #expect(handover.ends == [8])
    #expect(isEnd(state.next()) == true)
  }

  @Test func `an ended state stays ended, whichever state it ended in`() {
    var waited = open
    _ = waited.wait(7)
    var finishing = open
    _ = finishing.append(change(1))
    _ = finishing.finish()
    for state in [open, waited, finishing, .ended] {
      var state = state
      _ = state.end()
      #expect(state.append(change(2)) == false)
      #expect(isEnd(state.next()) == true)
      #expect(state.wait(9).ends == [9])
      let handover = state.finish()
      #expect(handover.ends.isEmpty && handover.changes.isEmpty)
    }
  }

  @Test func `a state that ends returns its waiters, to be resumed`() {
    var state = open
    _ = state.wait(7)
    guard case .waited(let waiters, _) = state.end() else {
      Issue.record("the former state is waited")
      return
    }
    #expect(waiters == [7])
  }
}
