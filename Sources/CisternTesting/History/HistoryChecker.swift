/// A checker that decides whether a cache may show a history of operations on one key.
///
/// The model is a register that can lose its value at any time, and is linearizable otherwise:
///
/// - Every operation takes effect at one instant between its call and its return.
/// - A read finds the value that was written last, or no value.
/// - A value that was removed, replaced, or lost does not return.
///
/// Values must be unique: no two writes of a key write the same value.
///
///     let violations = HistoryChecker.violations(in: [
///       .init(.write(1), called: 0, returned: 1),
///       .init(.write(2), called: 2, returned: 3),
///       .init(.read(1), called: 4, returned: 5),     // stale
///     ])
///
/// The algorithm uses zones, after Gibbons and Korach ("Testing shared memories", 1997). The *zone* of a value lies
/// between the first return and the last call of the operations on the value:
///
/// - If the first return is earlier than the last call, the zone is *forward*. The key certainly has the value
///   during the whole zone.
/// - Otherwise, the zone is *backward*. All operations on the value overlap at one instant, and need only this
///   instant.
///
/// A miss and a removal are backward zones with one operation. A history has no violation if and only if all of
/// these conditions hold:
///
/// - Every value that was read was written, and its write was called before the read returned.
/// - No two forward zones overlap.
/// - No backward zone lies inside a forward zone.
public enum HistoryChecker {
  /// Returns the violations in a history of one key.
  ///
  /// - Parameter history: The operations on the key, in any order.
  /// - Returns: The violations, in the order of their first calls. The array is empty if a cache may show the
  ///   history.
  /// - Complexity: O(*n* log *n*), where *n* is the number of operations.
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
    // Each element is the zone with the latest end among a forward zone and its predecessors.
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
  /// Returns the index of the first element that satisfies the predicate. All later elements must satisfy it, too.
  fileprivate func partitioningIndex(where predicate: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = low + (high - low) / 2
      if predicate(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
