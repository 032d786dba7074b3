import CisternTesting
import Testing

@testable import CisternCore
@testable import Eviction

/// Properties of every eviction policy.
struct EvictionPolicyTests {
  @Test(arguments: EvictionPolicyKind.allCases)
  func `costs and counts add up after every operation, and eviction ends with an empty policy`(
    kind: EvictionPolicyKind
  ) {
    for seed in 0..<12 as Range<UInt64> {
      var generator = SeededGenerator(seed: seed)
      var simulation = PolicySimulation(kind.makePolicy(), limit: 300)
      for step in 0..<3_000 {
        let key = generator.next(below: 120)
        switch generator.next(below: 10) {
        case 0: simulation.remove(key)
        case 1: simulation.update(key, cost: 1 + generator.next(below: seed % 3 == 0 ? 300 : 20))
        case 2: simulation.evict(keeping: simulation.slot(of: key) ?? .none)
        default: simulation.request(key, cost: 1 + generator.next(below: seed % 2 == 0 ? 12 : 100))
        }
        if simulation.total.cost > 300 { Issue.record("seed \(seed): \(simulation.total.cost) exceed the limit") }
        if step % 16 == 0 { #expect(simulation.total == simulation.recounted) }
      }
      let left = simulation.keys
      var evicted: [Int] = []
      while let key = simulation.evict() { evicted.append(key) }
      #expect(evicted.sorted() == left)
      #expect(simulation.total == (0, 0))
    }
  }

  @Test(arguments: EvictionPolicyKind.allCases)
  func `a spared entry is never chosen, and it alone is left at the end`(kind: EvictionPolicyKind) {
    for kept in 0..<30 {
      for hits in 0..<4 {
        var simulation = PolicySimulation(kind.makePolicy(), limit: 30)
        for key in 0..<30 { simulation.request(key) }
        // Some entries are in the main queue by now, and the spared entry may be anywhere.
        for _ in 0..<hits { for key in 0..<30 where key % 3 > 0 { simulation.request(key) } }
        for key in 0..<kept { simulation.request(key) }
        guard let slot = simulation.slot(of: kept) else {
          Issue.record("the entry is missing before any eviction")
          return
        }
        var count = 0
        while let key = simulation.evict(keeping: slot) {
          if key == kept { Issue.record("\(key) was evicted although it is spared") }
          count += 1
        }
        #expect(count == 29)
        #expect(simulation.keys == [kept])
        #expect(simulation.evict() == kept)
      }
    }
  }

  @Test(arguments: EvictionPolicyKind.allCases)
  func `eviction from an empty policy returns nil`(kind: EvictionPolicyKind) {
    var simulation = PolicySimulation(kind.makePolicy(), limit: 1)
    #expect(simulation.evict() == nil)
  }

  @Test(arguments: EvictionPolicyKind.allCases)
  func `a policy that was emptied behaves as a new one, except for what it has learned`(kind: EvictionPolicyKind) {
    var simulation = PolicySimulation(kind.makePolicy(), limit: 5)
    for key in 0..<20 { simulation.request(key) }
    #expect(simulation.policy.total.count == 5)
    _ = simulation.policy.removeAll()
    #expect(simulation.policy.total == (0, 0))
    #expect(simulation.evict() == nil)
  }

  @Test func `the least recently used entry is evicted first, for every kind of use`() {
    var simulation = PolicySimulation(LRU(), limit: 5)
    for key in 0..<5 { simulation.request(key) }
    simulation.request(0)
    simulation.update(2, cost: 1)
    simulation.remove(3)
    var order: [Int] = []
    while let key = simulation.evict() { order.append(key) }
    #expect(order == [1, 4, 0, 2])
  }

  @Test func `S3-FIFO evicts entries that were requested once, in the order of their insertion`() {
    var simulation = PolicySimulation(S3FIFO(), limit: 10)
    for key in 0..<10 { simulation.request(key) }
    // One more request is not enough, two more are.
    simulation.request(0)
    for _ in 0..<2 { simulation.request(1) }
    for key in 10..<20 { simulation.request(key) }
    #expect(simulation.evicted == [0, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    #expect(simulation.keys == [1] + Array(11..<20))
  }

  @Test func `S3-FIFO remembers dropped keys and inserts them into the main queue when they return`() {
    var simulation = PolicySimulation(S3FIFO(), limit: 10)
    for key in 0..<15 { simulation.request(key) }
    #expect(simulation.evicted == [0, 1, 2, 3, 4])
    simulation.request(3)
    for key in 100..<150 { simulation.request(key) }
    #expect(simulation.slot(of: 3) != nil)
    #expect(simulation.slot(of: 14) == nil)
  }

  @Test func `a scan leaves the requested entries of S3-FIFO, and evicts those of LRU`() {
    func misses(_ policy: any EvictionPolicy) -> Int {
      var simulation = PolicySimulation(policy, limit: 100)
      for _ in 0..<4 { for key in 0..<60 { simulation.request(key) } }
      for key in 1_000..<3_000 { simulation.request(key) }
      let before = simulation.misses
      for key in 0..<60 { simulation.request(key) }
      return simulation.misses - before
    }
    #expect(misses(S3FIFO()) == 0)
    #expect(misses(LRU()) == 60)
  }

  @Test(arguments: [(50, 1), (500, 2), (3_000, 3), (500, 4), (50, 5)] as [(Int, UInt64)])
  func `S3-FIFO misses as often as the paper's version with an exact ghost, within one percent`(
    limit: Int, seed: UInt64
  ) {
    var trace = skewedTrace(60_000, keys: 10_000, seed: seed)
    // Scans and loops between the requests exercise the ghost.
    if seed > 3 {
      for start in stride(from: 0, to: 60_000, by: 6_000) {
        for offset in 0..<1_500 {
          trace[start + offset] = 20_000 + (seed == 4 ? start + offset : offset % (limit * 3 / 2))
        }
      }
    }
    var simulation = PolicySimulation(S3FIFO(), limit: limit)
    var reference = NaiveS3FIFO(limit: limit)
    for key in trace {
      simulation.request(key)
      reference.request(key)
    }
    let difference = Double(abs(simulation.misses - reference.misses)) / Double(reference.misses)
    #expect(difference < 0.01, "\(simulation.misses) misses, the reference has \(reference.misses)")
  }

  @Test func `in a cache, entries with hits outlive a scan of entries without`() throws {
    let cache = try Cache<Int, Int>(costLimit: 1_000)
    for key in 0..<300 { cache[key] = key }
    for _ in 0..<3 {
      for key in 0..<300 { #expect(cache[key] == key) }
    }
    for key in 1_000..<5_000 { cache[key] = key }
    #expect((0..<300).count { cache[$0] != nil } > 200)
  }
  @Test func `in a cache, a trim keeps the entries with hits among entries of the same age`() throws {
    let cache = try Cache<Int, Int>(costLimit: 1_000)
    for key in 0..<1_000 { cache[key] = key }
    for _ in 0..<3 {
      for key in stride(from: 0, to: 1_000, by: 4) { #expect(cache[key] == key) }
    }
    cache.trim(toCost: 400)
    #expect(stride(from: 0, to: 1_000, by: 4).count { cache[$0] != nil } > 200)
  }
}
