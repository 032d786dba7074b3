/// The operations on one value, or one miss or removal, as far as the order of others depends on them.
struct Zone<Value: Hashable & Sendable> {
  private(set) var write: HistoryOperation<Value>?
  private var first: HistoryOperation<Value>?
  private var last: HistoryOperation<Value>?

  init() {}

  init(_ operation: HistoryOperation<Value>) {
    include(operation)
  }

  mutating func include(_ operation: HistoryOperation<Value>) {
    if case .write = operation.kind, write == nil { write = operation }
    if first.map({ operation.returned < $0.returned }) ?? true { first = operation }
    if last.map({ operation.called > $0.called }) ?? true { last = operation }
  }

  /// The operation that returned first. A zone is asked only once it has an operation.
  var firstToReturn: HistoryOperation<Value> { first! }
  /// The operation that was called last.
  var lastCalled: HistoryOperation<Value> { last! }

  /// The first return: no later did the value begin to stand.
  var start: UInt64 { firstToReturn.returned }
  /// The last call: no earlier did it cease to.
  var end: UInt64 { lastCalled.called }

  var isForward: Bool { start < end }
  var isAbsence: Bool {
    switch firstToReturn.kind {
    case .miss, .removal: true
    case .read, .write: false
    }
  }

  /// The violation that this forward zone and another, which lies in it or overlaps it, make together.
  func violation(_ kind: HistoryViolation<Value>.Kind, with other: Zone) -> HistoryViolation<Value> {
    let own = [firstToReturn, lastCalled]
    let others = other.isAbsence ? [other.firstToReturn] : [other.firstToReturn, other.lastCalled]
    var seen: Set<HistoryOperation<Value>> = []
    let operations = (own + others).filter { seen.insert($0).inserted }.sorted { $0.called < $1.called }
    return HistoryViolation(kind: kind, operations: operations)
  }
}
