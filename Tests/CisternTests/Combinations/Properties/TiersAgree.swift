extension Property {
  /// Memory, the second tier behind it, and the next store over that tier show the same.
  static let tiersAgree = Property("tiers agree") { evidence in
    let isEvicted = evidence.record.losses.contains { $0.kind == .diskEviction }
    guard evidence.combination.kind.keepsEvicted, !isEvicted else { return [] }
    func text(_ document: Document?) -> String { document.map { "\($0)" } ?? "nothing" }
    var findings: [String] = []
    if evidence.behindMemory != evidence.shown {
      findings.append("memory had \(evidence.value), and behind it is \(text(evidence.behindMemory))")
    }
    if evidence.reopened != evidence.behindMemory {
      findings.append("behind memory is \(text(evidence.behindMemory)), and after a restart \(text(evidence.reopened))")
    }
    return findings
  }
}
