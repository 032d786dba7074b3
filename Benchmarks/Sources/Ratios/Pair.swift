import Workloads

/// A measurement and its reference.
struct Pair {
  /// The measured operation and its conditions.
  let title: String
  let reference: String
  /// The highest accepted ratio to the reference, or nil if there is none.
  let target: Double?
  /// Each closure runs one measurement and returns the nanoseconds per operation.
  let measure: () async throws -> Double
  let measureReference: () async throws -> Double

  /// Runs both measurements alternately, and alternates which one runs first. A disturbance of a round affects both.
  func run(rounds: Int = 7) async throws -> Row {
    _ = try await (measureReference(), measure())
    var costs: [(subject: Double, reference: Double)] = []
    for round in 0..<rounds {
      if round.isMultiple(of: 2) {
        let reference = try await measureReference()
        costs.append((try await measure(), reference))
      } else {
        let subject = try await measure()
        costs.append((subject, try await measureReference()))
      }
    }
    let ratios = costs.map { $0.subject / $0.reference }.sorted()
    var row = Row(
      title: title, subject: time(median(costs.map(\.subject))), reference: reference,
      referenceCost: time(median(costs.map(\.reference))), target: target)
    row.ratio = median(ratios)
    row.spread = (ratios[0], ratios[rounds - 1])
    return row
  }

  private func time(_ nanoseconds: Double) -> String {
    nanoseconds < 10_000 ? "\(Int(nanoseconds.rounded())) ns" : "\(Int((nanoseconds / 1000).rounded())) µs"
  }
}
