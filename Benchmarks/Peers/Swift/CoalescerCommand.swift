import Cistern
import Workloads

/// The comparison of coalescers, one subject in each process.
enum CoalescerCommand {
  /// Runs the command `coalescer SUBJECT CALLERS`.
  static func run(_ arguments: [String]) async throws {
    guard arguments.count == 2, let callers = Int(arguments[1]) else { Compared.fail("coalescer SUBJECT CALLERS") }
    func run(_ subject: some CoalescerSubject) async throws {
      try await CoalescerComparison(name: arguments[0], callers: callers, subject: subject).run()
    }
    switch arguments[0] {
    case "Cistern Coalescer": try await run(Coalescer<String, String>())
    // Large enough for the values of one workload. Values of earlier ones may be evicted.
    case "Cistern Cache": try await run(try Cache<String, String>(costLimit: 1 << 20))
    case "actor with tasks": try await run(TaskTable())
    case "tasks alone": try await run(TasksAlone())
    default: Compared.fail("no subject \(arguments[0])")
    }
  }
}
