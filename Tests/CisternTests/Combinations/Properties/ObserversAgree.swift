extension Property {
  /// The changes that observers received, when replayed, equal the result of lookups. No event contradicts an
  /// earlier one.
  static let observersAgree = Property("observers agree with look-ups") { evidence in
    // The writes of other processes are no changes.
    if evidence.combination.interference.isOfOtherProcess { return [] }
    var findings = evidence.auditFindings
    if evidence.replayed != evidence.shown {
      // The value has expired, but no lookup has detected it yet.
      let isUnnoticed =
        evidence.shown == nil && evidence.record.losses.contains { $0.kind.isOfTime }
      if !isUnnoticed {
        let replayed = evidence.replayed.map { "\($0)" } ?? "nothing"
        findings.append("the observed changes result in \(replayed), but the cache returns \(evidence.value)")
      }
    }
    if evidence.firstUpdate != evidence.found {
      let texts = [evidence.firstUpdate, evidence.found].map { $0.map { "\($0)" } ?? "nothing" }
      findings.append("a new observer gets \(texts[0]), but a look-up finds \(texts[1])")
    }
    return findings
  }
}
