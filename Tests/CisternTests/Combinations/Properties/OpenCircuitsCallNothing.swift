extension Property {
  /// While the circuit breaker is open, no fetch is called. When it is half-open, the next fetch is.
  static let openCircuitsCallNothing = Property("an open circuit breaker calls nothing") { evidence in
    let record = evidence.record
    guard let open = record.openCircuit, !evidence.combination.cancels else { return [] }
    var findings = record.fetches.filter { fetch in
      fetch.span.began > open.began && fetch.span.began < open.ended
        && !record.losses.contains {
          $0.kind.isOfTime && $0.span.ended > open.began && $0.span.began < fetch.span.began
        }
    }.map { "a fetch began at \($0.span.began), but the breaker was open from \(open.began) on" }
    // Another load may be the probe.
    if evidence.combination.leavesKeyAlone, evidence.combination.interference != .loadBystander,
      let last = record.loads.last, case .error(.circuitOpen)? = last.outcome
    {
      findings.append("a load was rejected at \(last.span.began), but the breaker was half-open")
    }
    return findings
  }
}
