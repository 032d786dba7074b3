extension Property {
  /// After a fetch failed, or took too long, a caller that accepts a stale value is given that, and the origin is left
  /// alone for the retry interval, whatever memory keeps.
  static let failuresAreLeftAlone = Property("failures are left alone") { evidence in
    let record = evidence.record
    guard evidence.combination.situation.isStale, !evidence.combination.interference.cancels else { return [] }
    return record.failures.flatMap { failure in
      record.fetches.filter { fetch in
        fetch.span.began > failure && fetch.policy != .reload && fetch.policy != .freshOnly
          && !evidence.isChanged(before: fetch.span.began)
      }.map { "a fetch began at \($0.span.began), after one had failed at \(failure)" }
    }
  }
}

extension Evidence {
  /// Whether the stale value that the trial began with was written, erased or lost before.
  fileprivate func isChanged(before tick: Int) -> Bool {
    let writes = record.stored.dropFirst().map(\.span) + record.erasures.dropFirst().map(\.span)
    let isLost = record.losses.contains { loss in
      guard loss.span.began < tick else { return false }
      switch loss.kind {
      case .memoryEviction: return !combination.kind.keepsEvicted
      case .diskEviction: return true
      // The one that made the value stale is the first.
      case .aging, .expiry:
        return record.losses.filter { $0.span.began < tick }.count { $0.kind.isOfTime }
          > 1
      }
    }
    return isLost || writes.contains { $0.began < tick } || !record.edits.isEmpty || record.conflicts > 0
      || record.equalWrites > 0 || record.fetches.contains { $0.policy == .reload || $0.policy == .freshOnly }
  }
}
