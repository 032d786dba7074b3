extension Property {
  /// The source of a value from the second tier is never reported as memory.
  static let staleSourcesAreTrue = Property("load sources are correct") { evidence in
    guard evidence.combination.situation.isOnDiskOnly, evidence.combination.interference == .nothing,
      // The check for a fresh value before the load migrates an older record, and memory gets its value.
      evidence.combination.situation != .olderRecord,
      let load = evidence.record.loads.first, load.source == .memory
    else { return [] }
    return ["the source of the first load was memory, which had no value"]
  }
}
