import CisternTestSupport
import CisternTesting
import Testing

@testable import CisternCore

/// Batches and drafts whose second tier takes no writes. Memory does not hold the values of one cache.
struct RefusedBatchTests {
  private static let modes: [(SecondTierStatistics.Mode, CisternError.Code)] = [
    (.readOnly, .readOnly), (.closed, .storeClosed), (.degraded, .diskFailed),
  ]

  /// A cache for each choice of tiers.
  private struct Caches: Sendable {
    let tier: FaultInjectingTier
    let store: Store
    /// The cache without memory.
    let disk: Cache<String, Int>
    let both: Cache<String, Int>
    let memory: Cache<String, Int>

    init(on executor: SeededExecutor) throws {
      tier = FaultInjectingTier(commits: .immediate, taskExecutor: executor)
      let store = try Store(
        secondTier: tier, memoryLimit: .mebibytes(1),
        configuration: .ignoringMemoryPressure(clock: ManualClock(), taskExecutor: executor))
      func cache(_ tiers: CacheTiers) throws -> Cache<String, Int> {
        let configuration = CacheConfiguration<Int>.with {
          $0.tiers = tiers
          $0.weigher = { _ in 1 }
        }
        return try store.cache(tiers.rawValue, of: Int.self, keyedBy: String.self, configuration: configuration)
      }
      self.store = store
      (disk, both, memory) = (try cache(.secondTierOnly), try cache(.both), try cache(.memoryOnly))
      disk["a"] = 1
    }

    /// Writes to all caches. Calls `meanwhile` in the closure of the batch.
    func writeToAll(_ meanwhile: () -> Void = {}) throws {
      try store.batch { batch in
        for cache in [disk, both, memory] { batch.setValue(2, forKey: "a", in: cache) }
        meanwhile()
      }
    }

    func requireUnchanged() throws {
      tier.setMode(.active)
      try #require(disk["a"] == 1 && both["a"] == nil && memory["a"] == nil)
      try #require([disk, both, memory].flatMap { $0.checkInvariants() } == [])
    }
  }

  private func code(_ body: () throws -> Void) -> CisternError.Code? {
    do {
      try body()
      return nil
    } catch {
      return (error as? CisternError)?.code
    }
  }

  @Test(arguments: modes.indices, [false, true])
  func `a batch over several caches whose second tier takes no writes throws and stores nothing in any of them`(
    number: Int, isDuringBatch: Bool
  ) throws {
    let (mode, expected) = Self.modes[number]
    try SeededExecutor.run(seed: 0) { executor in
      let caches = try Caches(on: executor)
      if !isDuringBatch { caches.tier.setMode(mode) }
      for _ in 0..<3 {
        try #require(code { try caches.writeToAll { caches.tier.setMode(mode) } } == expected)
        if isDuringBatch { caches.tier.setMode(.active) }
      }
      try caches.requireUnchanged()
      try #require(caches.store.statistics.memory.cost == 0)
      try caches.writeToAll()
      try #require(caches.disk["a"] == 2 && caches.both["a"] == 2 && caches.memory["a"] == 2)
      try #require([caches.disk, caches.both, caches.memory].flatMap { $0.watchFindings } == [])
    }
  }

  @Test(arguments: modes.indices)
  func `a batch and a draft of a cache without memory throw and store nothing while the second tier takes no writes`(
    number: Int
  ) throws {
    let (mode, expected) = Self.modes[number]
    try SeededExecutor.run(seed: 0) { executor in
      let caches = try Caches(on: executor)
      try #require(
        code {
          try caches.disk.batch { batch in
            batch.setValue(2, forKey: "a")
            caches.tier.setMode(mode)
          }
        } == expected)
      caches.tier.setMode(.active)
      let draft = caches.disk.draft()
      draft["a"] = 3
      caches.tier.setMode(mode)
      try #require(code { try draft.save() } == expected && draft.writtenKeys == ["a"])
      try caches.requireUnchanged()
      try draft.save()
      try #require(caches.disk["a"] == 3 && draft.isEmpty)
    }
  }

  @Test(arguments: modes.indices)
  func `a draft over several caches keeps its writes if the second tier takes none`(number: Int) throws {
    let (mode, expected) = Self.modes[number]
    try SeededExecutor.run(seed: 0) { executor in
      let caches = try Caches(on: executor)
      let draft = caches.store.draft()
      for cache in [caches.disk, caches.both, caches.memory] { draft.setValue(3, forKey: "a", in: cache) }
      caches.tier.setMode(mode)
      try #require(code { try draft.save() } == expected)
      await #expect(throws: CisternError.self) { try await draft.commit() }
      for cache in [caches.disk, caches.both, caches.memory] { try #require(draft.writtenKeys(in: cache) == ["a"]) }
      caches.tier.setMode(.active)
      try #require(caches.disk["a"] == 1 && caches.both["a"] == nil && caches.memory["a"] == nil)
      try draft.save()
      try #require(caches.disk["a"] == 3 && caches.both["a"] == 3 && caches.memory["a"] == 3)
      try #require(draft.isEmpty)
    }
  }

  @Test func `a batch that only removes values is taken while the second tier fails`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let caches = try Caches(on: executor)
      caches.tier.setMode(.degraded)
      try #require(code { try caches.store.batch { $0.removeValue(forKey: "a", in: caches.disk) } } == nil)
      caches.tier.setMode(.readOnly)
      try #require(code { try caches.store.batch { $0.removeValue(forKey: "a", in: caches.disk) } } == .readOnly)
    }
  }

  @Test func `a batch in caches that memory holds is in memory while the second tier takes no writes`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let caches = try Caches(on: executor)
      caches.tier.setMode(.readOnly)
      try caches.store.batch { batch in
        for cache in [caches.both, caches.memory] { batch.setValue(2, forKey: "a", in: cache) }
      }
      try #require(caches.both["a"] == 2 && caches.memory["a"] == 2)
    }
  }
}
