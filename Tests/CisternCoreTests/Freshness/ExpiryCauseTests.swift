import CisternTesting
import CisternTestSupport
import Testing

@testable import CisternCore

/// A value that expired unnoticed is announced as expired, for every operation on its key.
@Suite struct ExpiryCauseTests {
  /// An operation on a key.
  enum Write: CaseIterable, Sendable {
    case set, commit, update, batch, removal, batchRemoval, load, nothing

    func apply(to cache: Cache<String, Int>) async throws {
      switch self {
      case .set: cache["a"] = 2
      case .commit: try await cache.commitValue(2, forKey: "a")
      case .update: cache.updateValue(forKey: "a") { $0 = ($0 ?? 0) + 2 }
      case .batch: try cache.batch { $0.setValue(2, forKey: "a") }
      case .removal: cache.removeValue(forKey: "a")
      case .batchRemoval: try cache.batch { $0.removeValue(forKey: "a") }
      case .load: _ = try await cache.value(forKey: "a") { _ in 2 }
      case .nothing: _ = cache["a"]
      }
    }

    var inserts: Bool {
      switch self {
      case .set, .commit, .update, .batch, .load: true
      case .removal, .batchRemoval, .nothing: false
      }
    }
  }

  @Test(arguments: [SubjectKind.memory, .twoTiers], Write.allCases)
  func `a value that expired unnoticed is announced as expired, before the value that replaces it`(
    kind: SubjectKind, write: Write
  ) throws {
    for isInMemory in [true, false] where isInMemory || kind != .memory {
      try SeededExecutor.run(seed: 0) { executor in
        let subject = try Subject(kind, on: executor, expiry: .after(.seconds(10)))
        let changes = Recorder<String>()
        subject.cache["a"] = 1
        if !isInMemory { subject.cache.trim(toCost: 0) }
        let token = subject.cache.observe { changes.record("\($0.event)") }
        subject.clock.advance(by: .seconds(10))
        try await write.apply(to: subject.cache)
        for _ in 0..<50 { await Task.yield() }
        let expired = "removed(\"a\", CisternCore.RemovalCause.expired)"
        try #require(changes.elements == (write.inserts ? [expired, "inserted(\"a\", 2)"] : [expired]))
        try #require(subject.cache["a"] == (write.inserts ? 2 : nil))
        try #require(subject.findings == [])
        token.cancel()
      }
    }
  }

  @Test func `a value that expires during its refresh is announced as expired, and the new one as inserted`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Subject(.twoTiers, on: executor, expiry: .after(.seconds(10), graceStale: .seconds(10)))
      let changes = Recorder<String>()
      let gate = Gate()
      let origin = ScriptedOrigin<String, Int> { _, _ in .gated(gate, .value(2)) }
      subject.cache["a"] = 1
      let token = subject.cache.observe { changes.record("\($0.event)") }
      subject.clock.advance(by: .seconds(15))
      try #require(try await subject.value("a", fetch: origin.fetch) == 1)
      await gate.arrivals(atLeast: 1)
      subject.clock.advance(by: .seconds(15))
      gate.open()
      while subject.inProgressCount > 0 { await Task.yield() }
      for _ in 0..<50 { await Task.yield() }
      try #require(
        changes.elements == ["removed(\"a\", CisternCore.RemovalCause.expired)", "inserted(\"a\", 2)"])
      try #require(subject.cache["a"] == 2)
      try #require(subject.findings == [])
      token.cancel()
    }
  }
}
