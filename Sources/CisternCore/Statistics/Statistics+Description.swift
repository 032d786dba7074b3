extension MemoryStatistics: CustomStringConvertible {
  /// A text such as "1,200 of 10,000 entries, cost 52,000 of 1,000,000". It omits limits that are not set.
  public var description: String {
    let entries = StatisticsTable.grouped(entryCount) + (countLimit.map { " of \(StatisticsTable.limit($0))" } ?? "")
    let limit = costLimit == .max ? "" : " of \(StatisticsTable.limit(costLimit))"
    return "\(entries) \(entryCount == 1 && countLimit == nil ? "entry" : "entries"), "
      + "cost \(StatisticsTable.grouped(cost))\(limit)"
  }
}

extension SecondTierStatistics: CustomStringConvertible {
  /// A text such as "active, 1,200 entries, 1.5 MiB of 16 MiB", with the number of staged writes if it is not zero.
  public var description: String {
    let occupied = ByteCount.bytes(occupiedBytes)
    var parts = [
      "\(mode)", "\(StatisticsTable.grouped(entryCount)) \(entryCount == 1 ? "entry" : "entries")",
      limitBytes > 0 ? "\(occupied) of \(ByteCount.bytes(limitBytes))" : "\(occupied)",
    ]
    if stagedCount > 0 { parts.append("\(StatisticsTable.grouped(stagedCount)) staged") }
    return parts.joined(separator: ", ")
  }
}

extension SecondTierStatistics.Mode: CustomStringConvertible {
  /// The mode in words, such as "active" or "read-only".
  public var description: String {
    switch self {
    case .active: "active"
    case .readOnly: "read-only"
    case .degraded: "degraded"
    case .closed: "closed"
    }
  }
}
