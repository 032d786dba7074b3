import Cistern
import Workloads

/// Measures one subject as a coalescer: concurrent callers of one key, concurrent callers of one key each, and single
/// calls.
struct CoalescerComparison<Subject: CoalescerSubject> {
  let name: String
  let callers: Int
  let subject: Subject

  func run() async throws {
    report(
      "one key",
      try await repeating { number in
        let key = "one/\(number)"
        return try await together { _ in key }
      })
    report(
      "many keys",
      try await repeating { number in
        let keys = (0..<callers).map { "many/\(number)/\($0)" }
        return try await together { keys[$0] }
      })
    // A single call of `TasksAlone` only calls the closure.
    if Subject.self != TasksAlone.self { report("alone", try await repeating(alone)) }
  }

  /// Runs all callers concurrently. The last one to arrive opens the gate that loads wait for.
  private func together(_ key: @escaping @Sendable (Int) -> String) async throws -> Double {
    let gate = Gate()
    return try await Joining.cost(
      tasks: callers,
      ask: { caller in
        _ = try await subject.value(forKey: key(caller)) { key in
          await gate.wait()
          return key
        }
      },
      open: gate.open)
  }

  private func alone(_ number: Int) async throws -> Double {
    let keys = (0..<10_000).map { "alone/\(number)/\($0)" }
    let start = nanoseconds()
    for key in keys { _ = try await subject.value(forKey: key) { $0 } }
    return Double(nanoseconds() - start) / Double(keys.count)
  }

  /// Returns the median of 100 runs, after 20 runs that do not count.
  private func repeating(_ body: (Int) async throws -> Double) async throws -> Double {
    var costs: [Double] = []
    for number in 0..<120 {
      let cost = try await body(number)
      if number >= 20 { costs.append(cost) }
    }
    return median(costs)
  }

  private func report(_ workload: String, _ value: Double) {
    Figure(group: "coalescer", workload: workload, subject: name, metric: "ns", value: value).print()
  }
}
