import CisternCore
import CisternTesting
import CisternTestSupport
import Testing

/// The announcement of records that only the second tier has, and whose lifetime has ended.
struct ExpiredRecordTests {
  enum Operation: CaseIterable, Sendable {
    case load, bulkLoad, reload, set, setDuringReload, update

    /// The writes that do not look for the record without observers.
    var isBlind: Bool { [.reload, .set, .setDuringReload].contains(self) }
  }

  @Test(arguments: Operation.allCases, [SubjectKind.twoTiers, .staging])
  func `a new value of an expired record is announced as the end of the old one and an insertion`(
    operation: Operation, kind: SubjectKind
  ) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Subject(kind, on: executor, expiry: .after(.seconds(10)))
      let cache = subject.cache
      cache["a"] = 1
      subject.tier?.commit()
      cache.trim(toCost: 0)
      subject.clock.advance(by: .seconds(11))
      let changes = Recorder<String>()
      let token = cache.observe { changes.record("\($0.event)") }
      switch operation {
      case .load:
        _ = try await subject.value("a") { _ in 2 }
      case .bulkLoad:
        _ = try await cache.values(forKeys: ["a"]) { _ in ["a": 2] }
      case .reload:
        _ = try await subject.value("a", policy: .reload) { _ in 2 }
      case .set:
        cache["a"] = 2
      case .setDuringReload:
        _ = try await subject.value("a", policy: .reload) { _ in
          cache["a"] = 2
          return 3
        }
      case .update:
        cache.updateValue(forKey: "a") { $0 = $0 ?? 2 }
      }
      for _ in 0..<50 { await Task.yield() }
      try #require(
        changes.elements == ["removed(\"a\", CisternCore.RemovalCause.expired)", "inserted(\"a\", 2)"])
      try #require(cache.statistics.expirations == (operation.isBlind ? 0 : 1))
      try #require(subject.findings == [])
      token.cancel()
    }
  }
}
