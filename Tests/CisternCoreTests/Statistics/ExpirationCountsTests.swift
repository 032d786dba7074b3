import CisternTesting
import CisternTestSupport
import Testing

@testable import CisternCore

/// The counts of expired values do not depend on observers.
struct ExpirationCountsTests {
  enum Operation: CaseIterable, Sendable {
    case lookUp, contains, load, bulkLoad, reload, contextReload, absent, set, commit, update, updateToNil, edit
    case removal, commitRemoval, batchOfSet, batchOfRemoval, draftOfRemoval, merge

    /// The number of expirations that the operation counts.
    func expirations(isInMemory: Bool) -> Int {
      switch self {
      // The look does not remove the value.
      case .contains: 0
      // The write replaces the value without a look at it.
      case .set, .commit, .batchOfSet: 0
      // The load looks at memory only.
      case .reload: isInMemory ? 1 : 0
      default: 1
      }
    }
  }

  private func counts(
    _ operation: Operation, _ kind: SubjectKind, isInMemory: Bool, isObserved: Bool
  ) throws -> CacheStatistics {
    try SeededExecutor.run(seed: 0) { executor in
      var settings = CacheConfiguration<Int>()
      if operation == .merge { settings.merge = { $0 + $1 } }
      let subject = try Subject(kind, on: executor, expiry: .after(.seconds(10)), settings: settings)
      let cache = subject.cache
      let token = isObserved ? cache.observe { _ in } : nil
      cache["a"] = 1
      subject.tier?.commit()
      if !isInMemory { cache.trim(toCost: 0) }
      subject.clock.advance(by: .seconds(11))
      try await Self.perform(operation, subject)
      for _ in 0..<50 { await Task.yield() }
      subject.tier?.commit()
      let statistics = cache.statistics
      try #require(subject.findings == [])
      token?.cancel()
      return statistics
    }
  }

  private static func perform(_ operation: Operation, _ subject: Subject) async throws {
    let cache = subject.cache
    switch operation {
    case .lookUp: _ = cache["a"]
    case .contains: _ = cache.contains("a")
    case .load: _ = try await subject.value("a") { _ in 2 }
    case .bulkLoad: _ = try await cache.values(forKeys: ["a"]) { _ in ["a": 2] }
    case .reload: _ = try await subject.value("a", policy: .reload) { _ in 2 }
    case .contextReload: _ = try await cache.load("a", policy: .reload) { _ in .store(2) }
    case .absent: _ = try await cache.load("a", policy: .reload) { _ in .absent() }
    case .set: cache["a"] = 2
    case .commit:
      let commit = Task(executorPreference: subject.executor) { try await cache.commitValue(2, forKey: "a") }
      for _ in 0..<20 { await Task.yield() }
      subject.tier?.commit()
      try await commit.value
    case .update: cache.updateValue(forKey: "a") { $0 = ($0 ?? 0) + 2 }
    case .updateToNil: cache.updateValue(forKey: "a") { $0 = nil }
    case .edit:
      try await cache.editValue(forKey: "a") { _ in
        2
      } confirmedBy: {
        3
      }
    case .removal: cache["a"] = nil
    case .commitRemoval:
      let commit = Task(executorPreference: subject.executor) { try await cache.commitRemoval(forKey: "a") }
      for _ in 0..<20 { await Task.yield() }
      subject.tier?.commit()
      try await commit.value
    case .batchOfSet: try cache.batch { $0.setValue(2, forKey: "a") }
    case .batchOfRemoval: try cache.batch { $0.removeValue(forKey: "a") }
    case .draftOfRemoval:
      let draft = cache.draft()
      draft.removeValue(forKey: "a")
      try draft.save()
    case .merge: cache.setValue(2, forKey: "a")
    }
  }

  @Test(arguments: Operation.allCases, SubjectKind.caches)
  func `an operation on an expired value counts the same with and without observers`(
    operation: Operation, kind: SubjectKind
  ) throws {
    for isInMemory in kind == .memory ? [true] : [true, false] {
      var plain = try counts(operation, kind, isInMemory: isInMemory, isObserved: false)
      var observed = try counts(operation, kind, isInMemory: isInMemory, isObserved: true)
      #expect(plain.expirations == operation.expirations(isInMemory: isInMemory), "in memory: \(isInMemory)")
      #expect(plain.removals == 0, "in memory: \(isInMemory)")
      // Observers cause reads of the tier.
      (plain.disk, observed.disk) = (nil, nil)
      // A batch reserves room beside the value that it replaces.
      (plain.memory.peakCost, observed.memory.peakCost) = (0, 0)
      #expect(plain == observed, "in memory: \(isInMemory)")
    }
  }
}
