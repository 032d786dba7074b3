extension Property {
  /// A load that accepts a fresh value returns a value if a lookup would have found one when the load began.
  static let freshValuesAreReturned = Property("fresh values are returned") { evidence in
    evidence.record.loads.filter { load in
      guard load.hadFreshValue, load.policy != .reload, load.policy != .fetchAnew, let outcome = load.outcome else {
        return false
      }
      switch outcome {
      case .value: return false
      case .cancelled: return !evidence.combination.cancels
      case .failed, .missing, .error: return !evidence.isOvertaken(load)
      }
    }.map { "a load from \($0.span.began) to \($0.span.ended) ended with \($0.outcome!), although a value was cached" }
  }
}

extension Interference {
  /// Whether the operation cancels a caller.
  var cancels: Bool { self == .cancelCaller || self == .cancelJoiner }
}

extension Evidence {
  /// Returns whether the value may have been removed or changed during the load.
  fileprivate func isOvertaken(_ load: Record.Load) -> Bool {
    let isErased = record.erasures.contains { $0.span.ended > load.span.began }
    let isLost = record.losses.contains { $0.span.ended > load.span.began }
    let isAbsent = record.fetches.contains { $0.effect.removes && $0.span.ended > load.span.began }
    return isErased || isLost || isAbsent || !record.edits.isEmpty
  }
}
