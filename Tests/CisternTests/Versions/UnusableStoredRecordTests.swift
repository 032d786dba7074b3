import CisternTesting
import CisternTestSupport
import Testing

@testable import CisternCore

/// Fetches with a context, of keys with a record that cannot be used.
@Suite struct UnusableStoredRecordTests {
  enum Defect: CaseIterable, Sendable { case dropped, notMigrated, noMigration, undecodable, expired }

  /// The cause of the removal that observers are notified of.
  private static func cause(of defect: Defect) -> RemovalCause {
    switch defect {
    case .dropped, .notMigrated, .noMigration: .outdated
    case .undecodable: .lost
    case .expired: .expired
    }
  }

  private struct Subject {
    let caches: VersionedCaches
    let cache: Cache<String, String>
    let reports = Recorder<StoreReport.Code>()
    let events = Recorder<String>()

    init(_ defect: Defect, on executor: SeededExecutor) throws {
      let tier = FaultInjectingTier(taskExecutor: executor)
      caches = VersionedCaches(tier: tier, executor: executor)
      let first = try caches.open(version: 1)
      first.setValue("text", forKey: "a", expiry: defect == .expired ? .after(.seconds(1)) : nil)
      caches.clock.advance(by: .seconds(2))
      if defect == .undecodable { tier.corrupt("a", in: VersionedCaches.partition) { $0 = [0xFF] } }
      let isOlder = defect != .undecodable && defect != .expired
      cache = try caches.open(version: isOlder ? 2 : 1, reports: reports) { bytes, version in
        if defect == .notMigrated { throw Unreadable() }
        return nil
      }
    }
  }

  @Test(arguments: Defect.allCases, [LoadPolicy.reload, .freshOnly, .fetchAnew])
  func `the fetch finds no stored value, and the record leaves once`(defect: Defect, policy: LoadPolicy) throws {
    for isObserved in [false, true] {
      try SeededExecutor.run(seed: 1) { executor in
        let subject = try Subject(defect, on: executor)
        let (cache, events) = (subject.cache, subject.events)
        let token = isObserved ? cache.observe { events.record("\($0.event)") } : nil
        let loaded = try await cache.load("a", policy: policy) { context in
          .returnOnly(context.stored.map { "stored \($0.value)" } ?? "fetched")
        }
        try #require(loaded?.value == "fetched")
        try #require(try subject.caches.metadata("a") == nil)
        let statistics = cache.statistics
        try #require(statistics.dropped == (Self.cause(of: defect) == .outdated ? 1 : 0))
        try #require(statistics.notDecodable == (defect == .undecodable ? 1 : 0))
        try #require(statistics.expirations == (defect == .expired ? 1 : 0))
        try #require(subject.reports.elements.count { $0 == .notMigrated } == (defect == .notMigrated ? 1 : 0))
        cache["a"] = "set"
        for _ in 0..<100 { await Task.yield() }
        let removed = "removed(\"a\", CisternCore.RemovalCause.\(Self.cause(of: defect)))"
        try #require(events.elements == (isObserved ? [removed, "inserted(\"a\", \"set\")"] : []))
        try #require(cache.checkInvariants() == [])
        token?.cancel()
      }
    }
  }

  @Test(arguments: Defect.allCases)
  func `a fetch cannot keep a record that cannot be used, and a later load fetches again`(defect: Defect) throws {
    try SeededExecutor.run(seed: 1) { executor in
      let subject = try Subject(defect, on: executor)
      let error = await #expect(throws: CisternError.self) {
        try await subject.cache.load("a", policy: .reload) { _ in .keepStored() }
      }
      try #require(error?.code == .invalidArgument)
      let loaded = try await subject.cache.load("a", policy: .reload) { context in
        .store(context.stored == nil ? "first" : "other", tags: ["t"])
      }
      try #require(loaded?.value == "first")
      try #require(try subject.caches.metadata("a")?.tags == ["t"])
      try #require(subject.cache.checkInvariants() == [])
    }
  }

  @Test func `a record that was replaced during its migration stays`() throws {
    try SeededExecutor.run(seed: 1) { executor in
      let caches = VersionedCaches(tier: FaultInjectingTier(taskExecutor: executor), executor: executor)
      try caches.open(version: 1)["a"] = "text"
      let other = try caches.open(version: 2)
      let cache = try caches.open(version: 2) { _, _ in
        other["a"] = "newer"
        return nil
      }
      let loaded = try await cache.load("a", policy: .reload) { _ in .returnOnly("fetched") }
      try #require(loaded?.value == "fetched")
      try #require(cache["a"] == "newer")
    }
  }
}
