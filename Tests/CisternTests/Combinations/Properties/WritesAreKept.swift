extension Property {
  /// What was written, or fetched for callers that did not leave, is there in the end, unless something erased or lost it
  /// at that time or since. So no update is lost, and no part of a value.
  static let writesAreKept = Property("writes are kept") { evidence in
    let record = evidence.record
    let kept = record.stored.map { ($0.mark, $0.span) } + evidence.storedFetches.map { ($0.mark, $0.span) }
    return kept.compactMap { mark, span in
      guard evidence.shown?.marks.contains(mark) != true, !evidence.mayBeGone(since: span, mark) else { return nil }
      return "\(mark) was stored from \(span.began) to \(span.ended), and the cache shows \(evidence.value)"
    }
  }
}

extension Evidence {
  var value: String { shown.map { "\($0)" } ?? "nothing" }

  /// The fetches whose callers waited for them, or left them to be stored.
  fileprivate var storedFetches: [Record.Fetch] {
    let isAbandoned = combination.interference == .cancelCaller || combination.operation == .load(.timeout)
    guard !isAbandoned, combination.situation != .newerRecord else { return [] }
    return record.fetches.filter { fetch in
      // A joiner that is cancelled may have led the flight.
      let isJoiners = combination.interference == .cancelJoiner && fetch.policy == .freshOnly
      return !fetch.hasFailed && fetch.span.ended != .max && !isJoiners
    }
  }

  /// When the flight of a fetch began, at the earliest: with the newest load before it.
  private func beginning(of fetch: Record.Span) -> Int {
    record.loads.map(\.span.began).filter { $0 < fetch.began }.min() ?? fetch.began
  }

  /// Whether something may have taken a mark out that was stored then.
  fileprivate func mayBeGone(since span: Record.Span, _ mark: Int) -> Bool {
    let isErased =
      record.erasures.contains { $0.span.ended > span.began && $0.span.began != span.began }
      || record.marks[mark]?.author == .fetch && record.erasures.contains { $0.span.ended > beginning(of: span) }
    let isLost = record.losses.contains { loss in
      switch loss.kind {
      case .memoryEviction: !combination.kind.keepsEvicted && loss.span.ended > span.began
      case .diskEviction, .aging, .expiry: loss.span.ended > span.began
      }
    }
    // A fetch that is stored replaces what was there, except where the cache merges.
    let isRefetched =
      !combination.operation.merges && record.fetches.contains { $0.mark != mark && $0.span.ended > span.began }
    // A write overtakes a fetch.
    let flight = beginning(of: span)
    let isOvertaken =
      record.marks[mark]?.author == .fetch
      && (record.stored.contains { $0.span.ended > flight } || record.edits.contains { $0.span.ended > flight }
        || record.equalWrites > 0)
    return isErased || isLost || isRefetched || isOvertaken
  }
}
