import Cistern

extension StressReport: CustomStringConvertible {
  /// The report as text.
  var description: String {
    var lines = [
      "",
      "\(Formatting.count(operations)) operations in \(Formatting.fixed(seconds, decimals: 1)) s"
        + " (\(Formatting.count(Int(operationsPerSecond))) per second) by \(configuration.clients) clients"
        + (interrupted ? ", interrupted" : ""),
      "", StressReport.table(of: outcomes, heading: "outcome").description, "",
    ]
    if exercises.values.contains(where: { $0.count > 0 }) {
      lines += [StressReport.table(of: exercises, heading: "exercises").description, ""]
    }
    lines += facts.map { name, value in name + String(repeating: " ", count: 18 - name.count) + value }
    lines += ["", verdict]
    return lines.joined(separator: "\n")
  }

  private static func table(of outcomes: [String: OutcomeSummary], heading: String) -> TextTable {
    var table = TextTable([heading, "count", "p50", "p99", "p99.9", "max"])
    for outcome in Outcome.allCases {
      guard let summary = outcomes[outcome.rawValue], summary.count > 0 else { continue }
      let times = [summary.p50, summary.p99, summary.p999, summary.max].map(Formatting.time(nanoseconds:))
      table.add([outcome.title, Formatting.count(summary.count)] + times)
    }
    return table
  }

  private var facts: [(String, String)] {
    let found = count(.memory) + count(.disk) + count(.stale)
    let asked = found + [.joined, .fetched, .refreshed, .timedOut, .failed, .missed].reduce(0) { $0 + count($1) }
    var facts = [
      (
        "hit ratio",
        "\(Formatting.percentage(count(.memory) + count(.stale), of: asked)) memory, \(Formatting.percentage(count(.disk), of: asked))"
          + " disk, of \(Formatting.count(asked)) reads of \(Formatting.count(distinctKeys)) keys"
      ),
      (
        "origin",
        "\(Formatting.count(originRequests)) requests, \(Formatting.count(originValues)) values; \(Formatting.count(max(0, loads - originRequests))) fetches saved"
      ),
    ]
    for (tier, summary) in limits.sorted(by: { $0.key > $1.key }) {
      facts.append(
        (
          "\(tier) limit",
          "\(ByteCount.bytes(summary.limit)); peak \(ByteCount.bytes(summary.peak))"
            + " (\(Formatting.percentage(summary.peak, of: summary.limit)))"
        ))
    }
    if let breaker, breaker != OriginRequests.Counts() {
      facts.append(
        (
          "breaker",
          "\(Formatting.count(breaker.working)) requests while the origin worked, "
            + "\(Formatting.count(breaker.failing)) in equal times while it failed"
        ))
    }
    facts += [
      (
        "observers",
        "\(Formatting.count(observers.registered)); \(Formatting.count(observers.changes)) changes received by those of the "
          + "whole cache, \(Formatting.count(observers.scopedChanges)) by the others"
      ),
      (
        "freshness",
        "\(Formatting.count(count(.stale))) stale hits; \(Formatting.count(refreshes)) background refreshes, "
          + "\(Formatting.count(count(.refreshed))) on request; \(Formatting.count(count(.timedOut))) timeouts"
      ),
      ("reopened", "\(reopenings) times"),
      ("checked", "every read, fetch, event and limit; \(Formatting.count(historyOperations)) operations in histories"),
      ("profile", configuration.profile.rawValue),
      ("seed", "\(seed)"),
    ]
    return facts
  }

  private var verdict: String {
    guard violationCount > 0 else {
      return originFailure == nil ? "no violations" : "no violations, but no load was checked: every fetch failed"
    }
    let shown = violations.prefix(20).map { violation in
      "  \(Formatting.fixed(violation.seconds, decimals: 3)) s  \(violation.rule.rawValue): \(violation.detail)"
    }
    let rest = violationCount - shown.count
    return
      ([Formatting.count(violationCount, "VIOLATION", "VIOLATIONS")] + shown + (rest > 0 ? ["  and \(rest) more"] : []))
      .joined(separator: "\n")
  }
}
