extension Property {
  /// No flight, no waiter and no watched key is left, and the cache's own check finds nothing.
  static let nothingIsLeftOver = Property("nothing is left over") { evidence in
    let statistics = evidence.statistics
    var findings = evidence.cacheFindings
    if statistics.inProgressCount > 0 { findings.append("\(statistics.inProgressCount) flights are left") }
    if statistics.waiterCount > 0 { findings.append("\(statistics.waiterCount) waiters are left") }
    return findings
  }
}
