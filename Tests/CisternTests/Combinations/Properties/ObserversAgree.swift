extension Property {
  /// What observers were told, replayed, is what look-ups find, with no event that contradicts those before it.
  static let observersAgree = Property("observers agree with look-ups") { evidence in
    var findings = evidence.auditFindings
    if evidence.replayed != evidence.shown {
      // The value has expired, and no look-up has noticed it yet.
      let isUnnoticed =
        evidence.shown == nil && evidence.record.losses.contains { $0.kind.isOfTime }
      if !isUnnoticed {
        let replayed = evidence.replayed.map { "\($0)" } ?? "nothing"
        findings.append("observers take the value for \(replayed), and the cache shows \(evidence.value)")
      }
    }
    return findings
  }
}
