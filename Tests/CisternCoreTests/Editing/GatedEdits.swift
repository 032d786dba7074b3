import CisternCore
import CisternTesting
import CisternTestSupport

extension FieldsSubject {
  /// Creates a subject whose cache replaces values instead of merging them.
  init(plain kind: Kind, on executor: SeededExecutor) throws {
    try self.init(kind, on: executor, configuration: CacheConfiguration())
  }

  /// Starts an edit of `k` that adds a field. Its confirmation ends when the gate opens.
  func edit(
    _ field: String, gate: Gate, fails: Bool = false, answer: Fields? = nil, context: WriterContext? = nil
  ) -> Task<Fields?, any Error> {
    task {
      try await cache.editValue(forKey: "k", options: UpdateOptions(context: context)) { value in
        (value ?? [:]).merging([field: 1]) { $1 }
      } confirmedBy: {
        await gate.passUncancelled()
        if fails { throw Broken() }
        return answer
      }
    }
  }

  /// Begins an edit of `k` that sets a field, and returns when its operation waits at the gate.
  func beginEdit(
    _ field: String, fails: Bool = false, context: WriterContext? = nil
  ) async -> (edit: Task<Fields?, any Error>, gate: Gate) {
    let gate = Gate()
    let edit = edit(field, gate: gate, fails: fails, context: context)
    await gate.arrivals(atLeast: 1)
    return (edit, gate)
  }

  /// Commits all staged writes, and returns the value of `k` after a crash.
  func afterCrash() throws -> Fields? {
    tier?.commit()
    return try FieldsSubject(.staging, on: executor, tier: tier?.reopenedAfterCrash()).cache["k"]
  }
}
