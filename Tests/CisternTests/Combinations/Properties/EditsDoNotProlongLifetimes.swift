extension Property {
  /// A confirmed edit keeps the expiry of the value that it changed.
  static let editsDoNotProlongLifetimes = Property("edits do not prolong lifetimes") { evidence in
    guard evidence.combination.operation == .edit(.confirmed), let shown = evidence.shown else { return [] }
    let record = evidence.record
    return shown.marks.filter { mark in
      guard record.marks[mark]?.author == .situation, let stored = record.stored.first(where: { $0.mark == mark })
      else { return false }
      return record.losses.contains { $0.kind == .expiry && stored.span.isBefore($0.span) }
    }.map { "\($0) has expired, but is fresh in \(shown)" }
  }
}
