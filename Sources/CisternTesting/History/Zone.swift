/// The zone of a value, a miss, or a removal: the interval that orders it among the other zones.
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

  /// The operation that returned first. The zone must have an operation.
  var firstToReturn: HistoryOperation<Value> { first! }
  /// The operation that was called last. The zone must have an operation.
  var lastCalled: HistoryOperation<Value> { last! }

  /// The first return. The key had the value at this time, or earlier.
  var start: UInt64 { firstToReturn.returned }
  /// The last call. The key had the value at this time, or later.
  var end: UInt64 { lastCalled.called }

  var isForward: Bool { start < end }
  var isAbsence: Bool {
    switch firstToReturn.kind {
    case .miss, .removal: true
    case .read, .write: false
    }
  }

  /// Returns the violation between this forward zone and another zone that lies inside it or overlaps it.
  func violation(_ kind: HistoryViolation<Value>.Kind, with other: Zone) -> HistoryViolation<Value> {
    let own = [firstToReturn, lastCalled]
    let others = other.isAbsence ? [other.firstToReturn] : [other.firstToReturn, other.lastCalled]
    var seen: Set<HistoryOperation<Value>> = []
    let operations = (own + others).filter { seen.insert($0).inserted }.sorted { $0.called < $1.called }
    return HistoryViolation(kind: kind, operations: operations)
  }
}
