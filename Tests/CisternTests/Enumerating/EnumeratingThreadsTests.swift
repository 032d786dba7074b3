import Cistern
import CisternTestSupport
import CisternTesting
import Testing

@testable import CisternCore

/// Enumerations beside writers, on real threads. Keys of three kinds show whether the guarantee holds: kept keys appear
/// exactly once, absent keys never, and the writers' keys at most once.
@Suite(.serialized) struct EnumeratingThreadsTests {
  /// The keys with a value during the whole test: on disk, in memory, in both tiers, long, and staged.
  private static func keptKeys(of cache: Cache<String, [UInt8]>, in store: Store) async throws -> [String] {
    var kept: [String] = []
    func keep(_ names: [String]) {
      for name in names { cache.setValue([1], forKey: name, tags: ["kept"]) }
      kept += names
    }
    keep((0..<900).map { "kept/disk/\($0)" })
    keep((0..<40).map { "kept/\(String(repeating: "long", count: 20))/\($0)" })
    // These were removed: some before the commit, others after it.
    for number in 0..<300 { cache["absent/\(number)"] = [1] }
    for number in 0..<100 { cache["absent/\(number)"] = nil }
    cache.setValue([1], forKey: "absent/tagged", tags: ["gone"])
    try await store.flush()
    cache.trim(toCost: 0)
    keep((0..<300).map { "kept/both/\($0)" })
    cache.removeAll(tagged: "gone")
    for number in 100..<200 { cache["absent/\(number)"] = nil }
    try await store.flush()
    keep((0..<100).map { "kept/staged/\($0)" })
    for number in 200..<300 { cache["absent/\(number)"] = nil }
    return kept
  }

  /// Writes keys of its own, and moves the kept ones between the tiers.
  private static func write(_ cache: Cache<String, [UInt8]>, store: Store, seed: UInt64) async throws {
    var generator = SeededGenerator(seed: seed)
    let key = "changing/\(Int.random(in: 0..<60, using: &generator))"
    switch Int.random(in: 0..<12, using: &generator) {
    case 0: cache[key] = nil
    case 1: cache.removeAll(tagged: "changing")
    case 2: cache.removeAll(withPrefix: "changing/1")
    case 3: cache.trim(toCost: 0)
    case 4: try await store.flush()
    case 5:
      try cache.batch {
        $0.setValue([3], forKey: key); $0.removeValue(forKey: "changing/0")
      }
    case 6: _ = cache["kept/disk/\(Int.random(in: 0..<900, using: &generator))"]
    case 7: _ = cache["kept/both/\(Int.random(in: 0..<300, using: &generator))"]
    case 8: for number in 0..<50 { _ = cache["kept/disk/\(number * 7)"] }
    default: cache.setValue([2], forKey: key, tags: ["changing"])
    }
  }

  @Test(arguments: 0..<6, [false, true])
  func `kept keys appear once and absent keys never while others are written`(
    seed: UInt64, isPaged: Bool
  ) async throws {
    let fixture = try EnumerationFixture(seed % 2 == 0 ? .ordered : .dense, commitInterval: .milliseconds(1))
    let (cache, store) = (fixture.cache, fixture.store)
    let kept = Set(try await Self.keptKeys(of: cache, in: store))
    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 0..<2 as Range<UInt64> {
        group.addTask {
          var number: UInt64 = 0
          while !Task.isCancelled {
            try await Self.write(cache, store: store, seed: seed << 40 | writer << 32 | number)
            number += 1
            await Task.yield()
          }
        }
      }
      for _ in 0..<12 {
        let keys = isPaged ? try cache.pagedKeys(limit: 90) : try await cache.allKeys()
        let found = Set(keys)
        #expect(found.count == keys.count, "a key appears twice")
        #expect(found.isSuperset(of: kept), "missing: \(kept.subtracting(found).prefix(5))")
        let others = found.subtracting(kept)
        #expect(others.allSatisfy { $0.hasPrefix("changing/") }, "\(others.prefix(5))")
        #expect(keys == fixture.inOrder(keys))
      }
      group.cancelAll()
      try await group.waitForAll()
    }
  }

  @Test(arguments: DiskLayout.both)
  func `an enumeration during removals of all returns nothing older`(layout: DiskLayout) async throws {
    let fixture = try EnumerationFixture(layout, commitInterval: .milliseconds(1))
    let cache = fixture.cache
    for round in 0..<20 {
      for number in 0..<600 { cache["\(round)/\(number)"] = [1] }
      if round % 3 == 0 { try await fixture.store.flush() }
      cache.removeAll()
      async let keys = cache.allKeys()
      for number in 0..<20 { cache["next/\(round)/\(number)"] = [1] }
      #expect(try await keys.allSatisfy { $0.hasPrefix("next/\(round)/") })
    }
  }
}
