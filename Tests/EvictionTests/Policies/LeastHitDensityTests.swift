import CisternTesting
import Testing

@testable import CisternCore
@testable import Eviction

/// The rules that the policy learns. The tests compare its misses with those of policies that have the rule built in,
/// or lack it.
struct LeastHitDensityTests {
  private func misses(_ policy: any EvictionPolicy, _ trace: [Int], limit: Int, cost: (Int) -> Int = { _ in 1 }) -> Int
  {
    var simulation = PolicySimulation(policy, limit: limit)
    for key in trace { simulation.request(key, cost: cost(key)) }
    return simulation.misses
  }

  @Test func `a scan does not evict entries that are requested again`() {
    var simulation = PolicySimulation(LeastHitDensity(), limit: 100)
    for round in 0..<40 {
      for key in 0..<60 { simulation.request(key) }
      for key in 0..<60 { simulation.request(1_000 + round * 60 + key) }
    }
    let before = simulation.misses
    for key in 100_000..<101_000 { simulation.request(key) }
    let afterScan = simulation.misses
    for key in 0..<60 { simulation.request(key) }
    #expect(afterScan - before == 1_000)
    #expect(simulation.misses - afterScan <= 6)
  }

  @Test func `a loop that exceeds the limit keeps a part of its entries`() {
    let trace = (0..<40_000).map { $0 % 300 }
    let misses = misses(LeastHitDensity(), trace, limit: 200)
    // LRU misses every request. An optimal policy misses one in three.
    #expect(self.misses(LRU(), trace, limit: 200) == 40_000)
    #expect(misses < 40_000 / 2, "\(misses) misses")
  }

  @Test func `entries requested a few times in a row and never again take little space`() {
    var generator = SeededGenerator(seed: 9)
    var trace: [Int] = []
    for burst in 0..<8_000 {
      for _ in 0..<3 {
        trace.append(100_000 + burst)
        trace.append(generator.next(below: 150))
      }
    }
    let best = misses(LeastHitDensity(), trace, limit: 120)
    let other = misses(S3FIFO(), trace, limit: 120)
    #expect(best < other, "\(best) misses, S3-FIFO has \(other)")
  }

  @Test func `when popularity changes, old entries make room`() {
    var simulation = PolicySimulation(LeastHitDensity(), limit: 500)
    let trace = skewedTrace(30_000, keys: 2_000, seed: 3)
    for key in trace { simulation.request(key) }
    let settled = simulation.misses
    for key in trace { simulation.request(10_000 + key) }
    // The statistics of the old keys cost some misses. The excess depends on the seed, so the bound allows one
    // seventh.
    #expect(simulation.misses - settled < settled * 8 / 7)
    #expect(simulation.keys.count { $0 >= 10_000 } > 400)
  }

  @Test(arguments: 0..<20 as Range<UInt64>)
  func `an entry that would be evicted next stays if it is requested before the next eviction`(seed: UInt64) {
    func next(after isWanted: Int?) -> Int? {
      var simulation = PolicySimulation(LeastHitDensity(), limit: 40)
      for key in skewedTrace(4_000, keys: 400, seed: seed) { simulation.request(key) }
      if let isWanted { for _ in 0..<3 { simulation.request(isWanted) } }
      simulation.request(1_000)
      return simulation.evicted.last
    }
    let first = next(after: nil)
    #expect(first != nil && next(after: first) != first)
  }

  @Test func `of entries with equal request rates, small ones stay`() {
    var generator = SeededGenerator(seed: 4)
    let trace = (0..<60_000).map { _ in generator.next(below: 2_000) }
    let cost = { (key: Int) in key.isMultiple(of: 2) ? 1 : 100 }
    var simulation = PolicySimulation(LeastHitDensity(), limit: 5_000)
    for key in trace { simulation.request(key, cost: cost(key)) }
    #expect(simulation.keys.count { $0.isMultiple(of: 2) } > 950)
    #expect(simulation.misses < misses(S3FIFO(), trace, limit: 5_000, cost: cost) * 7 / 10)
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func `on skewed requests the policy misses at most slightly more than S3-FIFO`(seed: UInt64) {
    let trace = skewedTrace(60_000, keys: 10_000, seed: seed)
    let best = misses(LeastHitDensity(), trace, limit: 500)
    let other = misses(S3FIFO(), trace, limit: 500)
    #expect(best < other * 103 / 100, "\(best) misses, S3-FIFO has \(other)")
  }

  @Test func `equal requests give equal evictions`() {
    func evicted() -> [Int] {
      var simulation = PolicySimulation(LeastHitDensity(), limit: 50)
      for key in skewedTrace(5_000, keys: 400, seed: 8) { simulation.request(key) }
      return simulation.evicted
    }
    #expect(evicted() == evicted())
  }

  @Test func `a large unknown entry is refused once small ones are known to be requested`() {
    let policy = LeastHitDensity()
    #expect(policy.admit(1, cost: 1_000))
    var simulation = PolicySimulation(policy, limit: 1_000)
    for key in skewedTrace(20_000, keys: 4_000, seed: 5) { simulation.request(key) }
    #expect(policy.admit(1, cost: 1))
    #expect(!policy.admit(1, cost: 1_000))
    // The policy remembers the refused key, so that repeated requests get it admitted.
    let tries = (0..<200).first { _ in policy.admit(1, cost: 1_000) }
    #expect(tries != nil)
    #expect(simulation.total.count == 1_000)
  }
}
