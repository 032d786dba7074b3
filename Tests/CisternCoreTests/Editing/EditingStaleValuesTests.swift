import CisternCore
import CisternTesting
import CisternTestSupport
import Testing

/// Unconfirmed edits of a value that is in grace.
struct EditingStaleValuesTests {
  private static func subject(_ kind: FieldsSubject.Kind, on executor: SeededExecutor) throws -> FieldsSubject {
    let subject = try FieldsSubject(
      kind, on: executor, expiry: .after(.seconds(60), graceStale: .seconds(600)),
      configuration: CacheConfiguration())
    subject.cache["k"] = ["base": 1]
    subject.clock.advance(by: .seconds(61))
    return subject
  }

  private static func edit(
    _ subject: FieldsSubject, gate: Gate, fails: Bool
  ) -> Task<Fields?, any Error> {
    subject.task {
      try await subject.cache.editValue(forKey: "k") { value in
        guard var value else { return nil }
        value["edited"] = 1
        return value
      } confirmedBy: {
        await gate.passUncancelled()
        if fails { throw Broken() }
        return nil
      }
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases)
  func `a failed edit restores the stale value, which a load returns if the origin fails, too`(
    kind: FieldsSubject.Kind
  ) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Self.subject(kind, on: executor)
      let cache = subject.cache
      let gate = Gate()
      let edit = Self.edit(subject, gate: gate, fails: true)
      await gate.arrivals(atLeast: 1)
      try #require(cache["k"] == ["base": 1, "edited": 1])
      gate.open()
      await #expect(throws: Broken.self) { try await edit.value }
      try #require(cache["k"] == nil)
      try #require(cache.value(forKey: "k", staleUpTo: .seconds(10)) == ["base": 1])
      let loaded = try await cache.value(forKey: "k", policy: .freshElseStale) { _ in throw Broken() }
      try #require(loaded == ["base": 1])
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases)
  func `a confirmed edit keeps the unchanged fields of the stale value`(kind: FieldsSubject.Kind) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Self.subject(kind, on: executor)
      let gate = Gate()
      let edit = Self.edit(subject, gate: gate, fails: false)
      await gate.arrivals(atLeast: 1)
      gate.open()
      try #require(try await edit.value == ["base": 1, "edited": 1])
      try #require(
        subject.valuesFromBothTiers("k") == [["base": 1, "edited": 1], ["base": 1, "edited": 1]])
      try #require(subject.findings == [])
    }
  }
}
