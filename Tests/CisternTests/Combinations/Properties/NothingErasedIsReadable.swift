extension Property {
  /// A lookup or load that begins after an erasure never returns an earlier value. An erasure is an invalidation, a
  /// removal or a replacement. An earlier value is one whose write or fetch began before the erasure.
  static let nothingErasedIsReadable = Property("nothing erased is readable") { evidence in
    let record = evidence.record
    var findings: [String] = []
    for (document, span) in record.readings {
      for mark in document.marks {
        guard let erasure = record.erasures.first(where: { record.erased(mark, by: $0) && $0.span.isBefore(span) })
        else { continue }
        findings.append(
          "\(document) was read at \(span.began), but a \(erasure.kind) until \(erasure.span.ended) erased \(mark)")
      }
    }
    if let reopened = evidence.reopened {
      for mark in reopened.marks where record.erasures.contains(where: { record.erased(mark, by: $0) }) {
        findings.append("\(reopened) is on disk, but \(mark) was erased")
      }
    }
    return findings
  }
}

extension Record {
  /// All documents that callers read, each with the span of the call.
  var readings: [(document: Document, span: Span)] {
    lookUps.compactMap { found in found.document.map { ($0, found.span) } }
      + loads.compactMap { load in
        if case .value(let document) = load.outcome { (document, load.span) } else { nil }
      }
  }

  /// Returns whether an erasure removed a mark. The mark must be older than the erasure. A replacement removes the
  /// mark of an edit only after that edit has ended.
  func erased(_ number: Int, by erasure: (kind: Erasure, span: Span)) -> Bool {
    guard let mark = marks[number], mark.born < erasure.span.began else { return false }
    // A set that was still running may have been applied after the erasure.
    if mark.author == .set, !stored.contains(where: { $0.mark == number && $0.span.isBefore(erasure.span) }) {
      return false
    }
    switch erasure.kind {
    case .removal: return !(mark.isOverNothing && mark.author == .update)
    case .invalidation: return !mark.isOverNothing
    case .replacement: return edits.first { $0.mark == number }.map { $0.span.isBefore(erasure.span) } ?? true
    }
  }
}
