extension Property {
  /// A lookup in memory, a lookup in the second tier, and a lookup after a restart return the same document. Over a
  /// read-only file, memory alone has new values.
  static let tiersAgree = Property("tiers agree") { evidence in
    let isEvicted = evidence.record.losses.contains { $0.kind == .diskEviction || $0.kind == .foreignWrite }
    guard evidence.combination.kind.hasSecondTier, !isEvicted else { return [] }
    func text(_ document: Document?) -> String { document.map { "\($0)" } ?? "nothing" }
    var findings: [String] = []
    let mayBeInMemoryOnly = !evidence.keepsEvicted && evidence.behindMemory == nil
    if evidence.behindMemory != evidence.shown, !mayBeInMemoryOnly {
      findings.append("memory had \(evidence.value), but the second tier has \(text(evidence.behindMemory))")
    }
    if evidence.reopened != evidence.behindMemory {
      findings.append("the second tier has \(text(evidence.behindMemory)), after a restart \(text(evidence.reopened))")
    }
    return findings
  }
}
