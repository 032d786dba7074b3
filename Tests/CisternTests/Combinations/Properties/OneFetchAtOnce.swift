extension Property {
  /// At most one fetch of a key runs at a time, unless another operation affected the key during the first fetch.
  static let oneFetchAtOnce = Property("one fetch at once") { evidence in
    let record = evidence.record
    return record.fetches.enumerated().flatMap { index, first in
      record.fetches[(index + 1)...].filter { second in
        first.span.ended > second.span.began && second.policy != .fetchAnew
          && !record.isOvertaken(first, before: second)
          && evidence.combination.interference != .cancelCaller
          // A flight without waiters is cancelled, but its fetch may continue to run.
          && evidence.combination.operation != .load(.timeout)
      }.map { second in
        "a fetch from \(second.span.began) on overlapped the one from \(first.span.began) to \(first.span.ended)"
      }
    }
  }
}

extension Record {
  fileprivate func isOvertaken(_ first: Fetch, before second: Fetch) -> Bool {
    let writes = erasures.map(\.span) + stored.map(\.span) + edits.map(\.span) + losses.map(\.span)
    return writes.contains { $0.began < second.span.began && $0.ended > first.span.began } || conflicts > 0
  }
}
