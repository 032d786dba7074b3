import CisternTestSupport
import CisternTesting
import Testing

@testable import CisternCore

/// Batches and drafts of which memory holds only a part, while the second tier takes no writes.
struct PartlyHeldBatchTests {
  private static let keys = 0..<100

  /// A cache whose memory holds twelve of the values, and a cache that can hold all of its own.
  private struct Caches: Sendable {
    let tier: FaultInjectingTier
    let store: Store
    let large: Cache<Int, Int>

    init(on executor: SeededExecutor) throws {
      tier = FaultInjectingTier(commits: .immediate, taskExecutor: executor)
      store = try Store(
        secondTier: tier, memoryLimit: .bytes(100),
        configuration: .ignoringMemoryPressure(clock: ManualClock(), taskExecutor: executor))
      let configuration = CacheConfiguration<Int>.with { $0.weigher = { _ in 8 } }
      large = try store.cache("large", of: Int.self, keyedBy: Int.self, configuration: configuration)
      for key in keys { large[key] = 0 }
    }

    func requireUnchanged() throws {
      tier.setMode(.active)
      try #require(keys.allSatisfy { large[$0] == 0 })
      try #require(large.checkInvariants() == [])
    }
  }

  private static let modes: [SecondTierStatistics.Mode] = [.degraded, .readOnly, .closed]

  @Test(arguments: modes.indices)
  func `a batch that no tier holds as a whole throws and changes nothing`(number: Int) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let caches = try Caches(on: executor)
      caches.tier.setMode(Self.modes[number])
      #expect(throws: CisternError.self) {
        try caches.large.batch { batch in for key in Self.keys { batch.setValue(1, forKey: key) } }
      }
      #expect(throws: CisternError.self) {
        try caches.store.batch { batch in
          for key in Self.keys { batch.setValue(1, forKey: key, in: caches.large) }
        }
      }
      try caches.requireUnchanged()
      try #require(caches.large.watchFindings == [])
    }
  }

  @Test(arguments: modes.indices)
  func `a draft that no tier holds as a whole keeps its writes`(number: Int) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let caches = try Caches(on: executor)
      let draft = caches.large.draft()
      for key in Self.keys { draft[key] = 1 }
      caches.tier.setMode(Self.modes[number])
      #expect(throws: CisternError.self) { try draft.save() }
      #expect(draft.writtenKeys.count == Self.keys.count)
      try caches.requireUnchanged()
      try draft.save()
      try #require(Self.keys.allSatisfy { caches.large[$0] == 1 })
    }
  }

  @Test(arguments: modes.indices)
  func `a batch that memory holds as a whole is stored`(number: Int) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let caches = try Caches(on: executor)
      caches.tier.setMode(Self.modes[number])
      try caches.large.batch { batch in for key in 0..<5 { batch.setValue(1, forKey: key) } }
      try #require((0..<5).allSatisfy { caches.large[$0] == 1 })
    }
  }
}
