extension Property {
  /// Memory never held more than its limit.
  static let limitsHold = Property("limits hold") { evidence in
    let limit = evidence.combination.kind.memoryLimit
    let peak = max(evidence.statistics.memory.peakCost, evidence.statistics.memory.cost)
    return peak <= limit ? [] : ["memory held \(peak) of \(limit)"]
  }
}
