extension Property {
  /// A load that returns a due or stale value starts a refresh, regardless of the tier that holds the value.
  static let dueValuesAreRefreshed = Property("due values are refreshed") { evidence in
    let combination = evidence.combination
    let record = evidence.record
    guard combination.operation == .load(.plain), combination.situation.isDue || combination.situation.isStale,
      case .value(let document)? = record.loads.first?.outcome, let first = record.stored.first?.mark,
      document.marks.contains(first), record.fetches.isEmpty, record.erasures.count == 1, record.stored.count == 1,
      record.edits.isEmpty, record.equalWrites == 0, !combination.interference.cancels
    else { return [] }
    return ["a load returned \(document), which was due, but no fetch began"]
  }
}
