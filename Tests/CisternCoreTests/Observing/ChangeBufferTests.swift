import CisternTesting
import Testing

@testable import CisternCore

@Suite struct ChangeBufferTests {
  typealias Buffer = ChangeBuffer

  private func change(_ number: UInt64, _ key: String?) -> ErasedChange {
    ErasedChange(
      Change<String, Int>(
        number: ChangeNumber(number: number), event: key.map { .updated($0, Int(number)) } ?? .cleared))
  }

  private func invalidation(_ number: UInt64, _ tag: String) -> ErasedChange {
    ErasedChange(Change<String, Int>(number: ChangeNumber(number: number), event: .invalidated(.tag(tag))))
  }

  private func drain(_ buffer: inout Buffer) -> [UInt64] {
    var numbers: [UInt64] = []
    while let change = buffer.popFirst() { numbers.append(change.number) }
    return numbers
  }

  @Test func `an unbounded buffer keeps all changes in order`() {
    var buffer = Buffer(.unbounded)
    for number in 1...5 { buffer.append(change(UInt64(number), "a")) }
    #expect(buffer.count == 5)
    #expect(drain(&buffer) == [1, 2, 3, 4, 5])
    #expect(buffer.isEmpty)
    #expect(buffer.takeDisplaced().count == 0)
  }

  @Test func `a bounded buffer keeps the newest changes and returns the dropped ones`() {
    var buffer = Buffer(.bounded(2))
    for number in 1...5 { buffer.append(change(UInt64(number), "a")) }
    #expect(buffer.takeDisplaced().map(\.number) == [1, 2, 3])
    #expect(!buffer.hasDisplaced)
    #expect(drain(&buffer) == [4, 5])
  }

  private func update(_ number: UInt64, from previous: PreviousValue<Int>) -> ErasedChange {
    ErasedChange(
      Change<String, Int>(number: ChangeNumber(number: number), event: .updated("k", Int(number)), previous: previous))
  }

  private func previous(_ change: ErasedChange?) -> PreviousValue<Int>? {
    change?.change(of: Change<String, Int>.self).previous
  }

  @Test func `a change that replaces others has the previous value of the first`() {
    var buffer = Buffer(.newestPerKey)
    buffer.append(update(1, from: .none))
    buffer.append(update(2, from: .value(1)))
    buffer.append(update(3, from: .value(2)))
    let merged = buffer.popFirst()
    #expect(merged?.number == 3 && previous(merged) == PreviousValue.none)
    buffer.append(update(4, from: .value(3)))
    #expect(previous(buffer.popFirst()) == .value(3))
    buffer.append(update(5, from: .value(4)))
    buffer.append(invalidation(6, "tag"))
    buffer.append(update(7, from: .value(5)))
    _ = buffer.popFirst()
    #expect(previous(buffer.popFirst()) == .unknown)
    var bounded = Buffer(.bounded(2))
    for number in 1...3 as ClosedRange<UInt64> { bounded.append(update(number, from: .value(Int(number) - 1))) }
    #expect(previous(bounded.popFirst()) == .value(1))
  }

  @Test(arguments: [1, 0, -7]) func `a bounded buffer keeps at least one change`(_ limit: Int) {
    var buffer = Buffer(.bounded(limit))
    for number in 1...3 { buffer.append(change(UInt64(number), "a")) }
    #expect(drain(&buffer) == [3])
  }

  @Test func `the newest change of a key takes the position of its oldest`() {
    var buffer = Buffer(.newestPerKey)
    for (number, key) in [(1, "a"), (2, "b"), (3, "a"), (4, "c"), (5, "b"), (6, "a")] {
      buffer.append(change(UInt64(number), key))
    }
    #expect(buffer.takeDisplaced().map(\.number) == [1, 2, 3])
    #expect(drain(&buffer) == [6, 5, 4])
  }

  @Test func `a key whose change was consumed gets a new position`() {
    var buffer = Buffer(.newestPerKey)
    buffer.append(change(1, "a"))
    buffer.append(change(2, "b"))
    #expect(buffer.popFirst()?.number == 1)
    buffer.append(change(3, "a"))
    #expect(!buffer.hasDisplaced)
    #expect(drain(&buffer) == [2, 3])
  }

  @Test func `a clear replaces all earlier changes, and later ones follow it`() {
    var buffer = Buffer(.newestPerKey)
    for (number, key) in [(1, "a"), (2, "b"), (3, nil), (4, "a"), (5, nil), (6, "b"), (7, "b")] {
      buffer.append(change(UInt64(number), key))
    }
    #expect(buffer.takeDisplaced().map(\.number) == [1, 2, 3, 4, 6])
    #expect(drain(&buffer) == [5, 7])
  }

  @Test func `an invalidation is kept once, and no later change of a key precedes it`() {
    var buffer = Buffer(.newestPerKey)
    buffer.append(change(1, "a"))
    buffer.append(change(2, "b"))
    for number in stride(from: UInt64(3), to: 3_000, by: 3) {
      buffer.append(invalidation(number, "news"))
      buffer.append(change(number + 1, "a"))
      buffer.append(change(number + 2, "a"))
    }
    #expect(buffer.count == 3)
    #expect(buffer.takeDisplaced().count == 2_996)
    #expect(drain(&buffer) == [2, 2_997, 2_999])
  }

  @Test(arguments: [Buffer.Policy.unbounded, .newestPerKey, .bounded(3), .bounded(200), .boundedByLoss(50)])
  func `random operations agree with a list`(_ policy: Buffer.Policy) {
    for seed in SeededSchedule.seeds(200) {
      var generator = SeededGenerator(seed: seed)
      var buffer = Buffer(policy)
      var model: [ErasedChange] = []
      var displaced = 0
      // The first half of the run adds more than it takes, and the second half less, so that the buffer grows and
      // shrinks.
      for step in 0..<600 {
        if generator.next(below: 10) < (step < 300 ? 7 : 3) {
          let key = generator.next(below: 40) == 0 ? nil : "\(generator.next(below: 150))"
          let tag = generator.next(below: 20) == 0 ? "\(generator.next(below: 3))" : nil
          let new = tag.map { invalidation(UInt64(step), $0) } ?? change(UInt64(step), key)
          displaced += append(new, to: &model, policy)
          buffer.append(new)
        } else {
          let popped = buffer.popFirst()
          #expect(popped?.number == model.first?.number)
          if !model.isEmpty { model.removeFirst() }
        }
        #expect(buffer.count == model.count)
      }
      #expect(buffer.takeDisplaced().count == displaced)
      #expect(drain(&buffer) == model.map(\.number), "seed \(seed)")
    }
  }

  private func append(
    _ new: ErasedChange, to model: inout [ErasedChange], _ policy: Buffer.Policy
  ) -> Int {
    let before = model.count
    switch policy {
    case .unbounded: model.append(new)
    case .bounded(let limit): model = (model + [new]).suffix(limit)
    case .boundedByLoss(let limit):
      if model.first?.marksLoss == true { return 1 }
      if before < limit {
        model.append(new)
      } else {
        model = [.loss]
        return limit + 1
      }
    case .newestPerKey:
      let newest = model.lastIndex { $0.invalidation != nil } ?? -1
      if let invalidation = new.invalidation {
        model.removeAll { $0.invalidation == invalidation }
        model.append(new)
      } else if new.key == nil {
        model = [new]
      } else if let place = model.firstIndex(where: { $0.key == new.key }), place > newest {
        model[place] = new
      } else {
        model.removeAll { $0.key != nil && $0.key == new.key }
        model.append(new)
      }
    }
    return before + 1 - model.count
  }
}
