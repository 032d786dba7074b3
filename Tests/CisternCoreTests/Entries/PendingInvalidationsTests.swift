import CisternTesting
import Testing

@testable import CisternCore
@testable import Eviction

struct PendingInvalidationsTests {
  private typealias Pending = PendingInvalidations<String>

  private func add(_ invalidation: Invalidation, _ number: UInt64, to pending: inout Pending) {
    let version = InvalidationVersion(number: number)
    switch invalidation {
    case .tag(let tag): pending.add(tag: tag, at: version)
    case .prefix(let prefix):
      pending.add(prefix: prefix, at: version) { key, prefixes in
        key.withKeyBytes { prefixes.newestVersion(ofPrefixesOf: $0) }
      }
    }
  }

  private func version(_ number: UInt64) -> InvalidationVersion { InvalidationVersion(number: number) }

  @Test func `pending invalidations agree with a complete list, for every version that is not yet forgotten`() {
    for seed in 0..<100 {
      var generator = SeededGenerator(seed: UInt64(seed))
      var pending = Pending()
      var all: [(invalidation: Invalidation, number: UInt64)] = []
      var oldest: UInt64 = 0
      for number in UInt64(1)...80 {
        let name = String(generator.next(below: 4))
        let invalidation: Invalidation = generator.next(below: 2) == 0 ? .tag(name) : .prefix(Array(name.utf8))
        add(invalidation, number, to: &pending)
        all.append((invalidation, number))
        for _ in 0..<max(0, generator.next(below: 5) - 2) {
          oldest = UInt64(generator.next(below: Int(number - oldest) + 1)) + oldest
          _ = pending.forget(olderThan: version(oldest), swept: version(number))
        }
        let invalidationVersion = UInt64(generator.next(below: Int(number - oldest) + 1)) + oldest
        let (key, tag) = ("\(generator.next(below: 5))/a", String(generator.next(below: 5)))
        let expected = all.contains {
          $0.number > invalidationVersion && $0.invalidation.concerns(key: Array(key.utf8), tags: [tag])
        }
        #expect(pending.concerns(key, tags: [tag], since: version(invalidationVersion)) == expected)
        #expect(pending.newest == version(number))
      }
      _ = pending.forget(olderThan: 80, swept: 80)
      #expect(pending.count == 0 && pending.size == 0)
      #expect(pending.concerns("9", since: 79) && !pending.concerns("9", since: 80))
    }
  }

  @Test(arguments: [true, false])
  func `a flight that never ends keeps a bounded number of invalidations and then counts as invalidated`(isTag: Bool) {
    let bound = 100_000
    var pending = Pending(bound: bound)
    var largest = 0
    var firstRefused: UInt64?
    for number in UInt64(1)...20_000 {
      add(isTag ? .tag("tag\(number)") : .prefix(Array("prefix\(number)".utf8)), number, to: &pending)
      // A sweep has visited every entry, and a flight that is older than all invalidations is in progress.
      _ = pending.forget(olderThan: 0, swept: version(number))
      largest = max(largest, pending.size)
      // The newest invalidation is always compared exactly.
      #expect(!pending.concerns("other", tags: ["other"], since: version(number - 1)))
      #expect(pending.concerns("prefix\(number)", tags: ["tag\(number)"], since: version(number - 1)))
      if firstRefused == nil, pending.concerns("other", tags: ["other"], since: 0) { firstRefused = number }
    }
    #expect(largest <= bound + bound / 8)
    // The comparison is exact up to at least half of the bound.
    #expect(firstRefused.map { $0 > UInt64(bound / 2 / 112) } ?? false)
  }

  @Test func `invalidations that no sweep has applied are compared exactly up to four times the bound`() {
    var pending = Pending(bound: 10_000)
    var number: UInt64 = 0
    while pending.size < 39_000 {
      number += 1
      add(.tag("tag\(number)"), number, to: &pending)
      _ = pending.forget(olderThan: 0, swept: 0)
      #expect(!pending.concerns("other", tags: ["other"], since: 0))
    }
    for _ in 0..<20 {
      number += 1
      add(.tag("tag\(number)"), number, to: &pending)
    }
    #expect(pending.size < 10_000)
    #expect(pending.concerns("other", tags: ["other"], since: 0))
    #expect(!pending.concerns("other", tags: ["other"], since: version(number)))
  }

  @Test func `a key is evaluated at most once, and only if newer prefixes are pending`() {
    var pending = Pending()
    var count = 0
    func key() -> String {
      count += 1
      return "key"
    }
    for number in UInt64(1)...1_000 { add(.tag("tag\(number)"), number, to: &pending) }
    #expect(!pending.concerns(key(), tags: ["other"], since: 0) && count == 0)
    for number in UInt64(1_001)...2_000 { add(.prefix(Array("p\(number)".utf8)), number, to: &pending) }
    #expect(!pending.concerns(key(), tags: ["other"], since: 0) && count == 1)
    #expect(!pending.concerns(key(), tags: ["other"], since: 2_000) && count == 1)
  }

  @Test func `one task sweeps at a time, and repeats its pass if an invalidation arrived during it`() {
    let table = EntryTable<String, Int>(
      shardCount: 1, policy: .leastHitDensity, budget: MemoryBudget(costLimit: 1_000, countLimit: 1_000))
    #expect(table.requestSweep())
    #expect(!table.requestSweep())
    #expect(table.beginPassIfDue())
    #expect(!table.requestSweep())
    #expect(table.beginPassIfDue())
    #expect(!table.beginPassIfDue())
    #expect(table.requestSweep())
  }
}
