extension Property {
  /// The cost of the values in memory never exceeds the limit.
  static let limitsHold = Property("limits hold") { evidence in
    let limit = evidence.combination.kind.highestCost
    let peak = max(evidence.statistics.memory.peakCost, evidence.statistics.memory.cost)
    return peak <= limit ? [] : ["memory held \(peak) of \(limit)"]
  }
}
