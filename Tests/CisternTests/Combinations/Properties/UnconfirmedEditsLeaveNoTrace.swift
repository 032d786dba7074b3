extension Property {
  /// A pending edit is not on disk, and a failed edit is in no tier.
  static let unconfirmedEditsLeaveNoTrace = Property("unconfirmed edits leave no trace") { evidence in
    let record = evidence.record
    return record.edits.flatMap { edit -> [String] in
      let early = record.seenOnDisk.filter { $0.document.marks.contains(edit.mark) && $0.tick < edit.span.ended }
      var findings = early.map { "\($0.document) was on disk while the edit \(edit.mark) was pending" }
      guard edit.isOver, !edit.isConfirmed else { return findings }
      let endings = [
        ("memory", evidence.shown), ("the second tier", evidence.behindMemory), ("disk", evidence.reopened),
      ]
      for (place, document) in endings where document?.marks.contains(edit.mark) == true {
        findings.append("the edit \(edit.mark) failed but is in \(place)")
      }
      return findings
    }
  }
}
