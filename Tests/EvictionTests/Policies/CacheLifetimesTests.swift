import CisternTesting
import Testing

@testable import CisternCore
@testable import Eviction

/// The observations that the shards of a cache share.
struct CacheLifetimesTests {
  @Test func `a shard's clock never goes back, and contains its insertions and the reported ones of all shards`() {
    for seed in 0..<50 as Range<UInt64> {
      var generator = SeededGenerator(seed: seed)
      let lifetimes = CacheLifetimes(shardCount: 2)
      var clocks = (ShardClock(shardCount: 2, insertions: 1), ShardClock(shardCount: 2, insertions: 1))
      var insertions = (UInt64(0), UInt64(0))
      var reported = (UInt64(0), UInt64(0))
      var last = (UInt32(0), UInt32(0))
      func step(
        _ clock: inout ShardClock, _ own: inout UInt64, _ ownReported: inout UInt64, _ otherReported: UInt64,
        _ last: inout UInt32
      ) {
        switch generator.next(below: 5) {
        case 0:
          clock.noteReport(lifetimes.report(insertions: clock.unreported, entries: 0))
          ownReported = own
          #expect(clock.now == UInt32(1 + own + otherReported))
        case 1:
          clock.catchUp(with: lifetimes.insertions)
          #expect(clock.now == UInt32(1 + own + otherReported))
        default:
          clock.tick()
          own += 1
        }
        #expect(clock.now >= last && clock.now >= own)
        #expect(clock.unreported == own - ownReported)
        last = clock.now
      }
      for _ in 0..<300 {
        if generator.next(below: 2) == 0 {
          step(&clocks.0, &insertions.0, &reported.0, reported.1, &last.0)
        } else {
          step(&clocks.1, &insertions.1, &reported.1, reported.0, &last.1)
        }
      }
      #expect(lifetimes.insertions == 1 + reported.0 + reported.1)
    }
  }

  @Test(arguments: [(1, 1), (16, 1), (32, 2), (256, 16)] as [(Int, UInt64)])
  func `with many shards the unit of time is longer`(shardCount: Int, unit: UInt64) {
    var clock = ShardClock(shardCount: shardCount, insertions: 0)
    for insertion in 1...100 as ClosedRange<UInt64> {
      clock.tick()
      #expect(clock.now == UInt32(insertion / unit))
    }
  }

  @Test func `a buffer returns the lifetimes in order, up to its capacity, and is then empty`() {
    var observed = ObservedLifetimes()
    var generator = SeededGenerator(seed: 1)
    for round in 0..<5 {
      var expected: [ObservedLifetimes.Lifetime] = []
      for _ in 0..<(round * 30) {
        let (uses, age) = (UInt8(generator.next(below: 256)), UInt32(1) << UInt32(generator.next(below: 32)))
        let endsWithUse = generator.next(below: 2) == 0
        if endsWithUse { observed.noteUse(after: uses, age: age) } else { observed.noteEnd(after: uses, age: age) }
        let index = LifetimeClass.ofUses(uses) * LifetimeClass.ageClasses + LifetimeClass.ofAge(age)
        expected.append(ObservedLifetimes.Lifetime(index: index, endsWithUse: endsWithUse))
        observed.noteEviction(of: 0.5)
      }
      #expect(observed.evicted.count == Float(expected.count))
      #expect(observed.evicted.densities == Float(expected.count) / 2)
      var found: [ObservedLifetimes.Lifetime] = []
      observed.removeAll { found.append($0) }
      #expect(found == Array(expected.prefix(ObservedLifetimes.capacity)))
      #expect(observed.count == 0 && observed.evicted.count == 0)
    }
  }

  @Test func `lifetimes of all shards add up, after the first eviction of any shard`() {
    let lifetimes = CacheLifetimes(shardCount: 4)
    var observed = ObservedLifetimes()
    observed.noteUse(after: 1, age: 10)
    lifetimes.take(&observed)
    #expect(observed.count == 1 && lifetimes.weight == 0 && !lifetimes.isLearning)
    lifetimes.beginLearning()
    #expect(lifetimes.isLearning)
    let first = lifetimes.densities[1, 0]
    #expect(first > 0)
    for shard in 1...3 {
      var observed = ObservedLifetimes()
      for _ in 0..<20 { observed.noteUse(after: 1, age: 2) }
      lifetimes.take(&observed)
      #expect(observed.count == 0 && lifetimes.weight == Float(shard * 20))
    }
    // Densities stay until the cache took in enough entries.
    #expect(lifetimes.densities[1, 0] == first)
    _ = lifetimes.report(insertions: 128, entries: 0)
    lifetimes.take(&observed)
    #expect(lifetimes.densities[1, 0] > first)
    lifetimes.beginLearning()
    #expect(lifetimes.weight == 61)
  }

  @Test func `shards report more seldom in a large cache`() {
    let lifetimes = CacheLifetimes(shardCount: 16)
    #expect(lifetimes.reportInterval == 1)
    _ = lifetimes.report(insertions: 1_000, entries: 512)
    #expect(lifetimes.reportInterval == 4 && lifetimes.entryCount == 512)
    _ = lifetimes.report(insertions: 1, entries: 100_000)
    #expect(lifetimes.reportInterval == 8)
    _ = lifetimes.report(insertions: 1, entries: -100_600)
    #expect(lifetimes.entryCount == 0 && lifetimes.reportInterval == 1)
  }
}
