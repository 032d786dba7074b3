extension Property {
  /// No flight, waiter or watched key remains, and the cache's invariants hold.
  static let nothingIsLeftOver = Property("nothing remains in progress") { evidence in
    let statistics = evidence.statistics
    var findings = evidence.cacheFindings
    if statistics.inProgressCount > 0 { findings.append("\(statistics.inProgressCount) flights remain") }
    if statistics.waiterCount > 0 { findings.append("\(statistics.waiterCount) waiters remain") }
    return findings
  }
}
