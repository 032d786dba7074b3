import Testing

@testable import CisternCore

/// Runs every sequence of events up to a maximum length. Each value lists the events that were applied to it.
struct EditQueueTests {
  private enum Event: CustomStringConvertible {
    case add
    case confirm(UInt64)
    case answer(UInt64)
    case withdraw(UInt64)
    case replace
    case remove

    var description: String {
      switch self {
      case .add: "add"
      case .confirm(let number): "confirm \(number)"
      case .answer(let number): "answer \(number)"
      case .withdraw(let number): "withdraw \(number)"
      case .replace: "replace"
      case .remove: "remove"
      }
    }
  }

  /// Returns the expected base and pending edits, computed from the whole history of events.
  private static func meaning(of history: [Event]) -> (base: [String]?, pending: [UInt64]) {
    var base: [String]? = ["first"]
    var added: UInt64 = 0
    var settled: Set<UInt64> = []
    for (place, event) in history.enumerated() {
      switch event {
      case .add: added += 1
      case .confirm(let number) where number <= added && settled.insert(number).inserted:
        base = (base ?? []) + ["edit \(number)"]
      case .answer(let number) where number <= added && settled.insert(number).inserted: base = ["answer at \(place)"]
      case .withdraw(let number) where number <= added: settled.insert(number)
      case .replace: base = ["replaced at \(place)"]
      case .remove: base = nil
      case .confirm, .answer, .withdraw: break
      }
    }
    return (base, added == 0 ? [] : (1...added).filter { !settled.contains($0) })
  }

  private static func apply(_ event: Event, at place: Int, added: inout UInt64, to queue: inout EditQueue<[String]>) {
    switch event {
    case .add:
      added += 1
      let number = added
      queue.add(EditQueue.Edit(number: EditNumber(number: number)) { ($0 ?? []) + ["edit \(number)"] })
    case .confirm(let number): queue.confirm(EditNumber(number: number))
    case .answer(let number): queue.confirm(EditNumber(number: number), by: ["answer at \(place)"])
    case .withdraw(let number): queue.withdraw(EditNumber(number: number))
    case .replace: queue.replaceBase(by: ["replaced at \(place)"])
    case .remove: queue.replaceBase(by: nil)
    }
  }

  @Test func `after every sequence of events the confirmed and shown values are those expected from the history`() {
    let numbers: [UInt64] = [1, 2, 3]
    let events: [Event] =
      [.add, .replace, .remove] + numbers.flatMap { [.confirm($0), .answer($0), .withdraw($0)] }
    var sequences = 0
    func explore(_ history: [Event], _ queue: EditQueue<[String]>, added: UInt64) {
      let (base, pending) = Self.meaning(of: history)
      #expect(queue.base == base && queue.pending.map(\.number) == pending.map { EditNumber(number: $0) }, "\(history)")
      let shown = pending.isEmpty ? base : (base ?? []) + pending.map { "edit \($0)" }
      #expect(queue.shown() == shown && queue.isEmpty == pending.isEmpty, "\(history)")
      sequences += 1
      guard history.count < 5 else { return }
      for event in events {
        var next = queue
        var added = added
        Self.apply(event, at: history.count, added: &added, to: &next)
        explore(history + [event], next, added: added)
      }
    }
    explore([], EditQueue(base: ["first"]), added: 0)
    #expect(
      sequences == (0...5).reduce(0) { sum, length in sum + (0..<length).reduce(1) { product, _ in product * 12 } })
  }

  @Test func `an edit can remove the value, and the next edit can create one`() {
    var queue = EditQueue<Int>(base: 1)
    queue.add(.init(number: 1) { _ in nil })
    #expect(queue.shown() == nil)
    queue.add(.init(number: 2) { $0 ?? 7 })
    #expect(queue.shown() == 7)
    queue.withdraw(1)
    #expect(queue.shown() == 1)
    queue.confirm(2)
    #expect(queue.base == 1 && queue.isEmpty)
  }
}
