import CisternCore
import CisternTestSupport
import CisternTesting
import Testing

/// A use is a look-up or a load that returns the value, and no other one.
struct ReturnedUseTests {
  private static let expiry = Expiry.after(.seconds(10), graceStale: .seconds(10_000)).idle(.seconds(100))

  /// The reason why a load returns a stale value.
  enum Reason: CaseIterable, Sendable {
    case failure, softTimeout, timeout, bulkFailure, bulkSoftTimeout

    /// Loads the stale value. A fetch that takes too long ends when the gate opens.
    fileprivate func load(from subject: Subject, until gate: Gate) async throws -> Int? {
      let cache = subject.cache
      switch self {
      case .failure:
        return try await subject.value("a", policy: .freshElseStale) { _ in throw Broken() }
      case .softTimeout, .timeout:
        let policy = LoadPolicy.freshElseStale
        let limited = self == .timeout ? policy.timingOut(after: .zero) : policy.returningStale(after: .zero)
        return try await subject.value("a", policy: limited) { _ in
          await gate.passUncancelled()
          throw Broken()
        }
      case .bulkFailure:
        return try await cache.values(forKeys: ["a"], policy: .freshElseStale) { _ in throw Broken() }["a"]
      case .bulkSoftTimeout:
        return try await cache.values(forKeys: ["a"], policy: .freshElseStale.returningStale(after: .zero)) { _ in
          await gate.passUncancelled()
          throw Broken()
        }["a"]
      }
    }
  }

  @Test(arguments: SubjectKind.caches, Reason.allCases)
  func `a stale value that loads return in place of a fetched one stays in use`(
    kind: SubjectKind, reason: Reason
  ) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Subject(kind, on: executor, expiry: Self.expiry)
      subject.cache["a"] = 1
      let gate = Gate()
      for _ in 0..<8 {
        subject.clock.advance(by: .seconds(30))
        try #require(try await reason.load(from: subject, until: gate) == 1)
      }
      gate.open()
      while subject.inProgressCount > 0 { await Task.yield() }
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.tiered)
  func `look-ups that do not return a stale record are no uses of it`(kind: SubjectKind) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Subject(kind, on: executor, expiry: Self.expiry)
      subject.cache["a"] = 1
      subject.cache.trim(toCost: 0)
      subject.clock.advance(by: .seconds(80))
      // The value is stale. The look-up brings it into memory, and does not return it.
      try #require(subject.cache["a"] == nil)
      subject.clock.advance(by: .seconds(30))
      try #require(subject.cache.find("a") == nil)
      subject.cache.trim(toCost: 0)
      try #require(subject.cache.find("a") == nil)
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.tiered)
  func `a look-up that returns a record is a use of it in both tiers`(kind: SubjectKind) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Subject(kind, on: executor, expiry: Self.expiry)
      subject.cache["a"] = 1
      for _ in 0..<4 {
        subject.cache.trim(toCost: 0)
        subject.clock.advance(by: .seconds(80))
        try #require(subject.cache.find("a")?.value == 1)
      }
      subject.clock.advance(by: .seconds(80))
      try #require(subject.cache.find("a")?.value == 1)
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.tiered)
  func `a value that the origin confirms is kept although it was used during the fetch`(kind: SubjectKind) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Subject(kind, on: executor, expiry: Self.expiry)
      let cache = subject.cache
      cache["a"] = 1
      subject.clock.advance(by: .seconds(30))
      let gate = Gate()
      let load = Task(executorPreference: executor) {
        try await cache.load("a", policy: .freshOnly) { context in
          try #require(context.stored?.value == 1)
          try await gate.pass()
          return .keepStored()
        }
      }
      await gate.arrivals(atLeast: 1)
      try #require(cache.value(forKey: "a", staleUpTo: .seconds(1_000)) == 1)
      gate.open()
      try #require(try await load.value?.value == 1)
      try #require(cache.find("a")?.isStale == false)
      cache.trim(toCost: 0)
      try #require(cache.find("a")?.isStale == false)
      try #require(subject.findings == [])
    }
  }
}
