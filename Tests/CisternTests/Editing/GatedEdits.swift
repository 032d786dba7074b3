import Cistern
import CisternTesting

extension FieldsSubject {
  /// One in which a value takes the place of the one before.
  init(plain kind: Kind, on executor: SeededExecutor) throws {
    try self.init(kind, on: executor, configuration: CacheConfiguration())
  }

  /// An edit of `k` that adds a field, and is confirmed when its gate opens.
  func edit(
    _ field: String, gate: Gate, fails: Bool = false, answer: Fields? = nil, context: WriterContext? = nil
  ) -> Task<Fields?, any Error> {
    task {
      try await cache.editValue(forKey: "k", context: context) { value in
        (value ?? [:]).merging([field: 1]) { $1 }
      } confirmedBy: {
        await gate.passUncancelled()
        if fails { throw Broken() }
        return answer
      }
    }
  }

  /// What a crash would leave of `k`.
  func afterCrash() throws -> Fields? {
    tier?.commit()
    return try FieldsSubject(.staging, on: executor, tier: tier?.reopenedAfterCrash()).cache["k"]
  }
}
