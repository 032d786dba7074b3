import CisternCore
import CisternTesting
import CisternTestSupport
import Testing

/// Updates that leave nil, of keys without a fresh value.
struct RemovingUpdatesTests {
  enum Form: CaseIterable, Sendable { case synchronous, asynchronous, committed, background }

  private static let expiry = Expiry.after(.seconds(10), graceStale: .seconds(100))

  private static func subject(
    _ kind: FieldsSubject.Kind, on executor: SeededExecutor, merges: Bool = false
  ) throws -> FieldsSubject {
    try FieldsSubject(
      kind, on: executor, expiry: Self.expiry,
      configuration: merges ? CacheConfiguration(merge: mergeFields) : CacheConfiguration())
  }

  /// Removes `k` by an update.
  private static func remove(_ form: Form, _ subject: FieldsSubject) async throws {
    let cache = subject.cache
    switch form {
    case .synchronous:
      inSync { cache.updateValue(forKey: "k") { $0 = nil } }
    case .asynchronous:
      try await cache.updateValue(forKey: "k") { value in
        await Task.yield()
        value = nil
      }
    case .committed:
      let ends = Recorder<Void>()
      let update = subject.task {
        try await cache.commitUpdate(forKey: "k") { $0 = nil }
        ends.record(())
      }
      while ends.count == 0 {
        subject.tier?.commit()
        await Task.yield()
      }
      try await update.value
    case .background:
      let stored = try await cache.updateValueInBackground(forKey: "k") { $0 = nil }.value
      try #require(stored == nil)
    }
  }

  private static func inSync(_ body: () -> Void) { body() }

  @Test(arguments: FieldsSubject.Kind.allCases, Form.allCases)
  func `an update that leaves nil removes a value in grace from both tiers, and announces it`(
    kind: FieldsSubject.Kind, form: Form
  ) throws {
    for isEvicted in kind == .memory ? [false] : [false, true] {
      try SeededExecutor.run(seed: 0) { executor in
        let subject = try Self.subject(kind, on: executor)
        let cache = subject.cache
        cache["k"] = ["old": 1]
        subject.tier?.commit()
        if isEvicted { cache.trim(toCost: 0) }
        subject.clock.advance(by: .seconds(15))
        let changes = Recorder<String>()
        let token = cache.observe { changes.record("\($0.event)") }
        try await Self.remove(form, subject)
        try #require(cache.value(forKey: "k", staleUpTo: .seconds(100)) == nil)
        cache.trim(toCost: 0)
        try #require(cache.value(forKey: "k", staleUpTo: .seconds(100)) == nil)
        try #require(try subject.afterCrash() == nil)
        for _ in 0..<50 { await Task.yield() }
        try #require(changes.elements == ["removed(\"k\", CisternCore.RemovalCause.explicit)"])
        try #require(cache.statistics.removals == 1)
        try #require(subject.findings == [])
        token.cancel()
      }
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases, Form.allCases)
  func `a fetch in progress is not stored after an update that leaves nil`(kind: FieldsSubject.Kind, form: Form) throws
  {
    for (isStale, merges) in [(false, false), (false, true), (true, false), (true, true)] {
      try SeededExecutor.run(seed: 0) { executor in
        let subject = try Self.subject(kind, on: executor, merges: merges)
        let cache = subject.cache
        if isStale {
          cache["k"] = ["old": 1]
          subject.tier?.commit()
          subject.clock.advance(by: .seconds(15))
        }
        let gate = Gate()
        let load = subject.task {
          try await cache.value(forKey: "k", policy: .freshOnly) { _ in
            await gate.passUncancelled()
            return ["fetched": 1]
          }
        }
        await gate.arrivals(atLeast: 1)
        try await Self.remove(form, subject)
        gate.open()
        try #require(try await load.value["fetched"] == 1)
        try #require(subject.valuesFromBothTiers("k") == [nil, nil])
        try #require(subject.findings == [])
      }
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases, Form.allCases)
  func `an update that leaves nil ends the pending edits of an absent key`(
    kind: FieldsSubject.Kind, form: Form
  ) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Self.subject(kind, on: executor)
      let cache = subject.cache
      let changes = Recorder<String>()
      let token = cache.observe { changes.record("\($0.event)") }
      let (edit, gate) = await subject.beginEdit("edited")
      try #require(cache["k"] == ["edited": 1])
      try await Self.remove(form, subject)
      try #require(cache["k"] == nil)
      gate.open()
      try #require(try await edit.value == nil)
      try #require(subject.valuesFromBothTiers("k") == [nil, nil])
      for _ in 0..<50 { await Task.yield() }
      try #require(
        changes.elements == [
          "inserted(\"k\", [\"edited\": 1])", "removed(\"k\", CisternCore.RemovalCause.explicit)",
        ])
      try #require(subject.findings == [])
      token.cancel()
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases, Form.allCases)
  func `an update that leaves nil changes nothing of an absent key`(kind: FieldsSubject.Kind, form: Form) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Self.subject(kind, on: executor)
      let changes = Recorder<String>()
      let token = subject.cache.observe { changes.record("\($0.event)") }
      try await Self.remove(form, subject)
      for _ in 0..<50 { await Task.yield() }
      try #require(changes.count == 0)
      try #require(subject.cache.statistics.removals == 0)
      try #require(subject.findings == [])
      token.cancel()
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases)
  func `a value that is set during an update that leaves nil is not removed unseen`(kind: FieldsSubject.Kind) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Self.subject(kind, on: executor)
      let cache = subject.cache
      cache["k"] = ["old": 1]
      subject.clock.advance(by: .seconds(15))
      let seen = Recorder<Fields?>()
      try await cache.updateValue(forKey: "k") { value in
        seen.record(value)
        if seen.count == 1 { cache["k"] = ["set": 1] }
        await Task.yield()
      }
      try #require(seen.elements == [nil, ["set": 1]])
      try #require(subject.valuesFromBothTiers("k") == [["set": 1], ["set": 1]])
      try #require(subject.findings == [])
    }
  }

  @Test func `a committing update that leaves nil waits for an earlier removal`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Self.subject(.staging, on: executor)
      let cache = subject.cache
      cache["k"] = ["old": 1]
      subject.tier?.commit()
      cache["k"] = nil
      let ends = Recorder<Void>()
      let update = subject.task {
        try await cache.commitUpdate(forKey: "k") { $0 = nil }
        ends.record(())
      }
      for _ in 0..<50 { await Task.yield() }
      try #require(ends.count == 0)
      subject.tier?.commit()
      try await update.value
      try #require(try subject.afterCrash() == nil)
    }
  }
}
