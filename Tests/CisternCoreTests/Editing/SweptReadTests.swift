import CisternTestSupport
import CisternTesting
import Locking
import Testing

@testable import CisternCore

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Reads of the second tier for a dependent write, during an invalidation and the sweep that forgets it.
struct SweptReadTests {
  /// Returns a cache whose second tier alone has a value of "k".
  private static func cache(
    over tier: FaultInjectingTier, _ configuration: CacheConfiguration<Int> = CacheConfiguration()
  ) throws -> Cache<String, Int> {
    // The sweep needs another thread than the read that waits for it.
    let settings = Store.Configuration.ignoringMemoryPressure(clock: ManualClock(), taskExecutor: ThreadPerJob())
    let store = try Store(secondTier: tier, memoryLimit: .mebibytes(1), configuration: settings)
    let cache = try store.cache("numbers", of: Int.self, keyedBy: String.self, configuration: configuration)
    cache.setValue(1, forKey: "k", tags: ["tag"])
    cache.trim(toCost: 0)
    return cache
  }

  private static func isSweeping(_ cache: Cache<String, Int>) -> Bool {
    cache.table.sweeping.load(ordering: .sequentiallyConsistent) != EntryTable<String, Int>.SweepState.idle.rawValue
  }

  /// Removes values in the middle of the next read, and waits for the end of the sweep.
  private static func interrupt(_ tier: FaultInjectingTier, by removal: KeyRemoval, in cache: Cache<String, Int>) {
    tier.setAfterLoad { [unowned cache] _ in
      tier.setAfterLoad(nil)
      removal.apply(to: cache)
      while isSweeping(cache) { sched_yield() }
    }
  }

  @Test(arguments: KeyRemoval.allCases)
  func `an update runs again only if the removal concerns the value`(removal: KeyRemoval) throws {
    let tier = FaultInjectingTier()
    let cache = try Self.cache(over: tier)
    Self.interrupt(tier, by: removal, in: cache)
    var seen: [Int?] = []
    cache.updateValue(forKey: "k") { value in
      seen.append(value)
      value = 2
    }
    #expect(removal.isConcerned ? seen.last == .some(nil) : seen == [1])
    #expect(cache["k"] == 2)
    #expect(cache.checkInvariants() == [])
  }

  @Test(arguments: KeyRemoval.allCases, [false, true])
  func `a draft has a conflict only if the removal concerns the value`(removal: KeyRemoval, comparesValues: Bool) throws
  {
    let tier = FaultInjectingTier()
    var configuration = CacheConfiguration<Int>()
    if comparesValues { configuration.isEqual = { $0 == $1 } }
    let cache = try Self.cache(over: tier, configuration)
    for isAtSave in [false, true] {
      cache.setValue(1, forKey: "k", tags: ["tag"])
      cache.trim(toCost: 0)
      let draft = cache.draft()
      if !isAtSave { Self.interrupt(tier, by: removal, in: cache) }
      draft["k"] = 2
      // The comparison at the save may read nothing from the second tier.
      if isAtSave { Self.interrupt(tier, by: removal, in: cache) }
      do {
        try draft.save()
        #expect(!removal.isConcerned || isAtSave)
      } catch {
        #expect(removal.isConcerned)
      }
      tier.setAfterLoad(nil)
    }
    #expect(cache.table.watchedCount == 0)
    #expect(cache.checkInvariants() == [])
  }

  @Test func `a draft that has read a value does not keep the later invalidations`() async throws {
    let cache = try Self.cache(over: FaultInjectingTier())
    let draft = cache.draft()
    draft["k"] = 2
    for _ in 0..<2 {
      cache.removeAll(tagged: "other")
      while Self.isSweeping(cache) { await Task.yield() }
    }
    #expect(cache.pendingInvalidationCount == 0)
    #expect(throws: Never.self) { try draft.save() }
  }
}
