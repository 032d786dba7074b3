extension Property {
  /// A value that only the second tier had does not count as one of memory.
  static let staleSourcesAreTrue = Property("sources are true") { evidence in
    guard evidence.combination.situation.isOnDiskOnly, evidence.combination.interference == .nothing,
      let load = evidence.record.loads.first, load.source == .memory
    else { return [] }
    return ["the source of the first load was memory, which had nothing"]
  }
}
