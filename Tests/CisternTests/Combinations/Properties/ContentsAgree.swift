extension Property {
  /// The contents of the cache lead to its value, however the observation began. No element contradicts an earlier one:
  /// there is neither a gap nor a duplicate.
  static let contentsAgree = Property("contents agree with look-ups") { evidence in
    // The writes of other processes are no changes.
    if evidence.combination.interference.isOfOtherProcess { return [] }
    let mayHaveExpired = evidence.record.losses.contains { $0.kind == .expiry }
    return evidence.contents.flatMap { contents -> [String] in
      var findings = contents.findings.filter { !(mayHaveExpired && $0.mayBeOfExpired) }.map(\.description)
      if contents.document != evidence.found {
        let texts = [contents.document, evidence.found].map { $0.map { "\($0)" } ?? "nothing" }
        findings.append("the result is \(texts[0]), but the cache has \(texts[1])")
      }
      return findings.map { "\(contents.name): \($0)" }
    }
  }
}
