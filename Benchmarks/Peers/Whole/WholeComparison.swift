import Workloads

/// Measures one subject in front of the origin. The workloads are:
///
/// - A warm mix of requests at a steady rate.
/// - The same after a restart of the client.
/// - The same at full speed.
/// - Bursts of callers of absent keys.
struct WholeComparison<Subject: WholeSubject> {
  let name: String
  let load: WholeLoad<Subject>
  /// The duration of each pass.
  let seconds: Double
  private let passes = 3

  func run(_ subject: Subject) async throws {
    var subject = subject
    // A subject without a cache keeps no values, so that only its connections warm up.
    if Subject.self != NoCache.self { try await load.fill(subject) }
    _ = try await load.closed(subject, seconds: min(seconds, 1), seed: 1, removes: false)

    // The workloads with equal requests for all subjects come first, so that all subjects have the same keys removed.
    report("mixed", try await total { try await load.open(subject, seconds: seconds, seed: UInt64(10 + $0)) })
    let restarted = try await total { number in
      subject = try await subject.restarted()
      return try await load.open(subject, seconds: seconds, seed: UInt64(20 + number))
    }
    report("restart", restarted)
    let most = try await total { try await load.closed(subject, seconds: seconds, seed: UInt64(30 + $0)) }
    report("mixed", "ns", most.nanosecondsPerRequest)

    for number in 0..<2 { _ = try await load.burst(subject, number: number) }
    let bursts = try await total(max(Int(seconds * 20), 4)) { try await load.burst(subject, number: 2 + $0) }
    report("burst", "ns", bursts.nanosecondsPerRequest)
    report("burst", bursts)
    try await subject.close()
  }

  /// Adds up the costs of all passes.
  private func total(_ passes: Int? = nil, _ pass: (Int) async throws -> WorkloadCost) async throws -> WorkloadCost {
    var total = WorkloadCost()
    for number in 0..<(passes ?? self.passes) { total.add(try await pass(number)) }
    return total
  }

  private func report(_ workload: String, _ cost: WorkloadCost) {
    report(workload, "origin_requests", cost.originRequestsPerRequest)
    for (metric, share) in [("p50_ns", 500), ("p99_ns", 990), ("p999_ns", 999)] {
      report(workload, metric, cost.latency(perMille: share))
    }
  }

  private func report(_ workload: String, _ metric: String, _ value: Double) {
    Figure(group: "whole", workload: workload, subject: name, metric: metric, value: value).print()
  }
}
