extension Property {
  /// A written or fetched value remains in the cache unless an operation erased or lost it during the write or later.
  /// Fetches whose callers left are excluded. Therefore no update is lost, and no part of a merged value.
  static let writesAreKept = Property("writes are kept") { evidence in
    let record = evidence.record
    guard evidence.combination.kind.keepsWrites || record.isOnlyInFile else { return [] }
    let kept = record.stored.map { ($0.mark, $0.span) } + evidence.storedFetches.map { ($0.mark, $0.span) }
    return kept.compactMap { mark, span in
      guard evidence.shown?.marks.contains(mark) != true, !evidence.mayBeGone(since: span, mark) else { return nil }
      return "\(mark) was stored from \(span.began) to \(span.ended), but the cache returns \(evidence.value)"
    }
  }
}

extension Evidence {
  var value: String { shown.map { "\($0)" } ?? "nothing" }

  /// The fetches that must be stored: successful fetches that completed and whose callers were not cancelled.
  fileprivate var storedFetches: [Record.Fetch] {
    let isAbandoned = combination.interference == .cancelCaller || combination.operation == .load(.timeout)
    guard !isAbandoned, combination.situation != .newerRecord else { return [] }
    return record.fetches.filter { fetch in
      // A cancelled joiner may have led the flight.
      let isJoiners = combination.interference == .cancelJoiner && fetch.policy == .freshOnly
      // A load that fetches anew takes the entry away from an earlier flight.
      let isReplaced = record.loads.contains { load in
        load.policy == .fetchAnew && fetch.policy != .fetchAnew && load.span.began < fetch.span.ended
          && load.span.ended > fetch.span.began
      }
      return !fetch.hasFailed && fetch.effect == .storing && !isReplaced && fetch.span.ended != .max && !isJoiners
    }
  }

  /// Returns the earliest tick at which a fetch's flight may have begun, which is the start of the first load or
  /// refresh before it.
  private func beginning(of fetch: Record.Span) -> Int {
    (record.loads.map(\.span.began) + record.refreshes).filter { $0 < fetch.began }.min() ?? fetch.began
  }

  /// Returns whether an operation may have removed a mark that was stored during a span.
  fileprivate func mayBeGone(since span: Record.Span, _ mark: Int) -> Bool {
    let isErased =
      record.erasures.contains { $0.span.ended > span.began && $0.span.began != span.began }
      || record.marks[mark]?.author == .fetch && record.erasures.contains { $0.span.ended > beginning(of: span) }
    let isLost = record.losses.contains { loss in
      switch loss.kind {
      case .memoryEviction: !keepsEvicted && loss.span.ended > span.began
      case .diskEviction, .aging, .expiry, .foreignWrite: loss.span.ended > span.began
      }
    }
    // A stored fetch replaces the previous value unless the cache merges.
    let isRefetched = record.fetches.contains { fetch in
      fetch.mark != mark && fetch.span.ended > span.began
        && (fetch.effect == .storing ? !combination.operation.merges : fetch.effect.removes)
    }
    // A write during a fetch prevents the fetched value from being stored.
    let flight = beginning(of: span)
    let isOvertaken =
      record.marks[mark]?.author == .fetch
      && (record.stored.contains { $0.span.ended > flight } || record.edits.contains { $0.span.ended > flight }
        || record.equalWrites > 0)
    return isErased || isLost || isRefetched || isOvertaken
  }
}
