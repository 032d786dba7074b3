extension Property {
  /// A look-up or load that began after an invalidation, a removal or a replacement never returns what was written, or
  /// began to be fetched, before it.
  static let nothingErasedIsReadable = Property("nothing erased is readable") { evidence in
    let record = evidence.record
    var findings: [String] = []
    for (document, span) in record.readings {
      for mark in document.marks {
        guard let erasure = record.erasures.first(where: { record.erased(mark, by: $0) && $0.span.isBefore(span) })
        else { continue }
        findings.append(
          "\(document) was read at \(span.began), though a \(erasure.kind) until \(erasure.span.ended) erased \(mark)")
      }
    }
    if let reopened = evidence.reopened {
      for mark in reopened.marks where record.erasures.contains(where: { record.erased(mark, by: $0) }) {
        findings.append("\(reopened) is on disk, though \(mark) was erased")
      }
    }
    return findings
  }
}

extension Record {
  /// All that callers read, with the time of the call.
  var readings: [(document: Document, span: Span)] {
    lookUps.compactMap { found in found.document.map { ($0, found.span) } }
      + loads.compactMap { load in
        if case .value(let document) = load.outcome { (document, load.span) } else { nil }
      }
  }

  /// Whether an erasure concerns a mark: it was born before, and its edit was not pending, or was ended.
  func erased(_ number: Int, by erasure: (kind: Erasure, span: Span)) -> Bool {
    guard let mark = marks[number], mark.born < erasure.span.began else { return false }
    // A set that was not over may have come after it.
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
