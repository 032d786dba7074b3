extension Property {
  /// An update or a merge begins anew only after a write of its key, or an invalidation that concerns it.
  static let attemptsHaveCauses = Property("attempts have causes") { evidence in
    let combination = evidence.combination
    // A bystander's set may merge, too.
    guard combination.interference.leavesKeyAlone, combination.interference != .setBystander,
      combination.operation == .update || combination.operation == .mergingSet
    else { return [] }
    // The first merge of a set over nothing is none.
    return evidence.record.attempts <= 1
      ? [] : ["there were \(evidence.record.attempts) attempts, and nothing concerned the key"]
  }
}
