import CisternCore

// Staged writes that invalidations can conceal.

extension Partition {
  /// Returns whether the staged write is a record that no invalidation conceals.
  ///
  /// The write can have left staging since its look-up. The invalidations of that time may be forgotten, so the
  /// comparison of the look-up counts, too.
  func shows(_ entry: StagedEntry) -> Bool {
    guard case .record(let key, let metadata, _) = entry.write, !entry.isConcealed else { return false }
    return !invalidations.conceals(metadata, key: key.rawSpan)
  }

  /// Returns the condition of a staged write. If the write is concealed, a removal replaces it, and has a condition,
  /// too.
  func condition(of entry: StagedEntry) -> RecordCondition? {
    guard entry.condition == nil, case .record(let key, let metadata, _) = entry.write,
      invalidations.conceals(metadata, key: key.rawSpan)
    else { return entry.condition }
    return invalidations.conditionOfRemoval(insteadOf: metadata, key: key.rawSpan)
  }
}
