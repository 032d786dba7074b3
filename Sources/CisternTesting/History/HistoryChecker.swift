/// Tells whether what callers saw of one key is what a cache may show: a register that may forget at any time, and that
/// is otherwise linearizable.
///
/// That is: every operation seems to take effect at one instant between its call and its return; a read finds the value
/// written last, or nothing; and what was removed, replaced or forgotten does not come back. Values must be unique: no
/// two writes of a key write the same.
///
///     let violations = HistoryChecker.violations(in: [
///       .init(.write(1), called: 0, returned: 1),
///       .init(.write(2), called: 2, returned: 3),
///       .init(.read(1), called: 4, returned: 5),     // stale
///     ])
///
/// The method is Gibbons and Korach's ("Testing shared memories", 1997), by zones. A value's *zone* lies between the first
/// return and the last call among its operations. If the return comes first the value surely stood for all of that
/// time (*forward*); else all its operations share an instant, and that is all they need (*backward*). A miss and a
/// removal are each a backward zone of their own. The history is right if and only if every value read was written, none
/// was read before, no two forward zones overlap, and no backward zone lies inside a forward one. O(n log n) in the
/// number of operations.
public enum HistoryChecker {
  /// What is wrong with a history of one key; empty when it is right. The operations may be in any order.
  public static func violations<Value: Hashable & Sendable>(
    in history: [HistoryOperation<Value>]
  ) -> [HistoryViolation<Value>] {
    var violations: [HistoryViolation<Value>] = []
    var forward: [Zone<Value>] = []
    var backward: [Zone<Value>] = []
    for zone in zones(of: history, violations: &violations) {
      if zone.isForward { forward.append(zone) } else { backward.append(zone) }
    }

    forward.sort { $0.start < $1.start }
    // For each forward zone, the one among it and its predecessors that ends last.
    var reaches: [Zone<Value>] = []
    for zone in forward {
      guard let reach = reaches.last else {
        reaches.append(zone)
        continue
      }
      if reach.end > zone.start { violations.append(reach.violation(.stale, with: zone)) }
      reaches.append(reach.end > zone.end ? reach : zone)
    }

    for zone in backward {
      let before = forward.partitioningIndex { $0.start >= zone.end }
      guard before > 0 else { continue }
      let reach = reaches[before - 1]
      if reach.end > zone.start {
        violations.append(reach.violation(zone.isAbsence ? .resurrected : .stale, with: zone))
      }
    }
    return violations.sorted { $0.operations[0].called < $1.operations[0].called }
  }

  private static func zones<Value>(
    of history: [HistoryOperation<Value>], violations: inout [HistoryViolation<Value>]
  ) -> [Zone<Value>] {
    var absences: [Zone<Value>] = []
    var values: [Value: Zone<Value>] = [:]
    for operation in history {
      switch operation.kind {
      case .miss, .removal:
        absences.append(Zone(operation))
      case .read(let value):
        values[value, default: Zone()].include(operation)
      case .write(let value):
        if let write = values[value]?.write {
          violations.append(HistoryViolation(kind: .valueWrittenTwice, operations: [write, operation]))
        }
        values[value, default: Zone()].include(operation)
      }
    }
    return absences
      + values.values.filter { zone in
        guard let write = zone.write else {
          violations.append(HistoryViolation(kind: .valueFromNowhere, operations: [zone.firstToReturn]))
          return false
        }
        guard write.called <= zone.start else {
          violations.append(HistoryViolation(kind: .readBeforeWrite, operations: [zone.firstToReturn, write]))
          return false
        }
        return true
      }
  }
}

extension Array {
  /// The index of the first element for which the predicate holds, where it holds for all after it.
  fileprivate func partitioningIndex(where predicate: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = low + (high - low) / 2
      if predicate(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
