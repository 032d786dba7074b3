import CisternTesting
import Testing

@testable import CisternCore

/// Up to three operations, at every place of an enumeration of two keys.
@Suite struct ContentStateTests {
  typealias State = ContentState<String, Int>

  /// An operation of a cache with the keys a and b.
  enum Operation: CaseIterable, Equatable {
    case nothing, setA, setB, removeA, removeB, clear, invalidateAll, invalidateA, invalidateOther
  }

  /// A cache with two keys, and the reader of its contents.
  struct Model {
    var values: [String: Int]
    var number: UInt64 = 0
    var buffer = ChangeBuffer(.newestPerKey)
    var state = State()
    let fold = ContentFold()
    let scope = ObservationScope<String>.prefix("")

    init(values: [String: Int]) { self.values = values }

    mutating func record(_ event: Change<String, Int>.Event, previous: PreviousValue<Int> = .unknown) {
      number += 1
      buffer.append(ErasedChange(Change(number: ChangeNumber(number: number), event: event, previous: previous)))
    }

    mutating func operate(_ operation: Operation) {
      switch operation {
      case .nothing: break
      case .setA: set("a")
      case .setB: set("b")
      case .removeA: remove("a")
      case .removeB: remove("b")
      case .clear:
        values = [:]
        record(.cleared)
      case .invalidateAll:
        values = [:]
        record(.invalidated(.prefix([])))
      case .invalidateA:
        values["a"] = nil
        record(.invalidated(.tag("a")))
      case .invalidateOther:
        record(.invalidated(.tag("other")))
      }
    }

    private mutating func set(_ key: String) {
      let value = Int(number) + 10
      let former = values.updateValue(value, forKey: key)
      record(
        former == nil ? .inserted(key, value) : .updated(key, value), previous: former.map { .value($0) } ?? .none)
    }

    private mutating func remove(_ key: String) {
      if let former = values.removeValue(forKey: key) { record(.removed(key, .explicit), previous: .value(former)) }
    }

    func read(_ key: String) -> [State.Read] {
      guard state.needs(key) else { return [] }
      return [State.Read(key: key, value: values[key], number: ChangeNumber(number: number))]
    }

    mutating func takeAll() -> [ContentChange<String, Int>] {
      var changes: [ContentChange<String, Int>] = []
      while let change = buffer.popFirst() {
        if let change = ContentChange<String, Int>(change, in: scope) { changes.append(change) }
      }
      return changes
    }

    mutating func begin() {
      _ = takeAll()
      state.begin()
    }

    mutating func deliver(_ reads: [State.Read], isLast: Bool) {
      for update in state.take(reads, takeAll(), isLast: isLast) { fold.take(update) }
    }

    /// Goes on without further operations until nothing is left to deliver.
    mutating func finish() {
      while true {
        switch state.phase {
        case .beginning, .enumerating:
          begin()
          deliver(read("a"), isLast: false)
          if state.phase == .enumerating { deliver(read("b"), isLast: true) }
        case .following:
          guard let change = buffer.popFirst() else { return }
          guard let change = ContentChange<String, Int>(change, in: scope) else { continue }
          for update in state.take(change) { fold.take(update) }
        }
      }
    }
  }

  @Test func `the elements lead to the cache's contents, without repetitions, whatever happens in between`() {
    let choices = Operation.allCases
    for initial in [[:], ["a": 1], ["b": 2], ["a": 1, "b": 2]] as [[String: Int]] {
      for combination in 0..<(choices.count * choices.count * choices.count * choices.count * choices.count) {
        var rest = combination
        let operations = (0..<5).map { _ in
          defer { rest /= choices.count }
          return choices[rest % choices.count]
        }
        // More operations show nothing more, and take a minute.
        if operations.count(where: { $0 != .nothing }) > 3 { continue }
        var model = Model(values: initial)
        model.begin()
        model.operate(operations[0])
        let first = model.read("a")
        model.operate(operations[1])
        model.deliver(first, isLast: false)
        model.operate(operations[2])
        if model.state.phase == .enumerating {
          let second = model.read("b")
          model.operate(operations[3])
          model.deliver(second, isLast: true)
          model.operate(operations[4])
        }
        model.finish()
        guard model.fold.findings == [], model.fold.contents == model.values, model.fold.isComplete else {
          Issue.record("\(initial) \(operations): \(model.fold.contents), not \(model.values), \(model.fold.findings)")
          return
        }
      }
    }
  }

  @Test func `a change that follows a read has the read value as its previous one`() {
    var model = Model(values: ["a": 1])
    model.begin()
    model.operate(.setA)
    let reads = model.read("a")
    let read = model.values["a"]
    model.operate(.setA)
    guard case .changed(let change)? = model.state.take(reads, model.takeAll(), isLast: false).last else {
      Issue.record("the change is not delivered")
      return
    }
    #expect(change.previous == read.map { .value($0) })
  }

  @Test func `a removal that leaves the consumer as it is, is not delivered`() {
    var model = Model(values: [:])
    model.begin()
    let reads = model.read("a")
    model.record(.removed("a", .expired))
    #expect(model.state.take(reads, model.takeAll(), isLast: false).isEmpty)
  }

  @Test func `an invalidation concerns all, some or nothing of a scope`() {
    let prefix = ObservationScope<String>.prefix("ab")
    #expect(prefix.part(concernedBy: .prefix(Array("a".utf8))) == .all)
    #expect(prefix.part(concernedBy: .prefix(Array("ab".utf8))) == .all)
    #expect(prefix.part(concernedBy: .prefix(Array("abc".utf8))) == .some)
    #expect(prefix.part(concernedBy: .prefix(Array("b".utf8))) == .nothing)
    #expect(prefix.part(concernedBy: .tag("a")) == .some)
    let tagged = ObservationScope<String>.tagged("t")
    #expect(tagged.part(concernedBy: .tag("t")) == .all)
    #expect(tagged.part(concernedBy: .tag("u")) == .some)
    #expect(tagged.part(concernedBy: .prefix([1])) == .some)
    for scope in [prefix, tagged, .all, .key("k")] { #expect(scope.part(concernedBy: .prefix([])) == .all) }
    #expect(ObservationScope<String>.all.part(concernedBy: .tag("t")) == .some)
    #expect(ObservationScope<String>.key("k").part(concernedBy: .prefix([1])) == .some)
  }
}
