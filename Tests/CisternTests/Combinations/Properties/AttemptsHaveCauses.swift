extension Property {
  /// An update or a merge runs again only after a write or an invalidation of its key.
  static let attemptsHaveCauses = Property("attempts have causes") { evidence in
    let combination = evidence.combination
    // A set of the bystander key can also run the merge function.
    guard combination.leavesKeyAlone, combination.interference != .setBystander,
      combination.operation == .update || combination.operation == .mergingSet
    else { return [] }
    // A set of an absent key does not run the merge function.
    return evidence.record.attempts <= 1
      ? [] : ["\(evidence.record.attempts) attempts ran, although no other operation affected the key"]
  }
}
