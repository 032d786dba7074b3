import Cistern

extension Property {
  /// After a fetch fails or times out, a caller that accepts a stale value receives it. The cache does not fetch
  /// again during the retry interval, even if memory evicts the value.
  static let failuresAreLeftAlone = Property("failed fetches are not repeated") { evidence in
    let record = evidence.record
    guard evidence.combination.situation.isStale, !evidence.combination.interference.cancels else { return [] }
    return record.failures.flatMap { failure in
      record.fetches.filter { fetch in
        fetch.span.began > failure && !fetch.policy.mustFetch
          && !evidence.isChanged(before: fetch.span.began)
      }.map { "a fetch began at \($0.span.began), after one had failed at \(failure)" }
    }
  }
}

extension Evidence {
  /// Returns whether an operation wrote, erased or lost the trial's initial stale value before a tick.
  fileprivate func isChanged(before tick: Int) -> Bool {
    let writes = record.stored.dropFirst().map(\.span) + record.erasures.dropFirst().map(\.span)
    let isLost = record.losses.contains { loss in
      guard loss.span.began < tick else { return false }
      switch loss.kind {
      case .memoryEviction: return !keepsEvicted
      case .diskEviction, .foreignWrite: return true
      // The first time-based loss made the value stale.
      case .aging, .expiry:
        return record.losses.filter { $0.span.began < tick }.count { $0.kind.isOfTime }
          > 1
      }
    }
    return isLost || writes.contains { $0.began < tick } || !record.edits.isEmpty || record.conflicts > 0
      || record.equalWrites > 0 || record.fetches.contains { $0.policy.mustFetch }
  }
}

extension LoadPolicy {
  /// Whether a load with this policy fetches during the pause after a failure.
  fileprivate var mustFetch: Bool { self == .reload || self == .fetchAnew || self == .freshOnly }
}
