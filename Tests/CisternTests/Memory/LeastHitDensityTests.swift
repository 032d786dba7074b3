import CisternTesting
import Testing

@testable import Cistern

/// What the policy learns, by how much it misses beside those that have it built in, or lack it.
struct LeastHitDensityTests {
  private func misses(_ policy: any EvictionPolicy, _ trace: [Int], limit: Int, cost: (Int) -> Int = { _ in 1 }) -> Int
  {
    var simulation = PolicySimulation(policy, limit: limit)
    for key in trace { simulation.request(key, cost: cost(key)) }
    return simulation.misses
  }

  @Test func `a scan passes by what is wanted again`() {
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

  @Test func `of a loop that does not fit, a part stays`() {
    let trace = (0..<40_000).map { $0 % 300 }
    let misses = misses(LeastHitDensity(), trace, limit: 200)
    // Least recently used misses all; who knows the future, one in three.
    #expect(self.misses(LRU(), trace, limit: 200) == 40_000)
    #expect(misses < 40_000 / 2, "\(misses) misses")
  }

  @Test func `what was wanted a few times in a row, and never again, takes little room`() {
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

  @Test func `where what is popular changes, the old makes room`() {
    var simulation = PolicySimulation(LeastHitDensity(), limit: 500)
    let trace = skewedTrace(30_000, keys: 2_000, seed: 3)
    for key in trace { simulation.request(key) }
    let settled = simulation.misses
    for key in trace { simulation.request(10_000 + key) }
    // A tenth more to an eighth more, by the seed: what it has learned of the old costs it that.
    #expect(simulation.misses - settled < settled * 8 / 7)
    #expect(simulation.keys.count { $0 >= 10_000 } > 400)
  }

  @Test(arguments: 0..<20 as Range<UInt64>)
  func `what would go next stays, if it is wanted before something has to go`(seed: UInt64) {
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

  @Test func `of entries wanted as often, small ones stay`() {
    var generator = SeededGenerator(seed: 4)
    let trace = (0..<60_000).map { _ in generator.next(below: 2_000) }
    let cost = { (key: Int) in key.isMultiple(of: 2) ? 1 : 100 }
    var simulation = PolicySimulation(LeastHitDensity(), limit: 5_000)
    for key in trace { simulation.request(key, cost: cost(key)) }
    #expect(simulation.keys.count { $0.isMultiple(of: 2) } > 950)
    #expect(simulation.misses < misses(S3FIFO(), trace, limit: 5_000, cost: cost) * 7 / 10)
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func `where a few are wanted often it misses no more than S3-FIFO, or hardly`(seed: UInt64) {
    let trace = skewedTrace(60_000, keys: 10_000, seed: seed)
    let best = misses(LeastHitDensity(), trace, limit: 500)
    let other = misses(S3FIFO(), trace, limit: 500)
    #expect(best < other * 103 / 100, "\(best) misses, S3-FIFO has \(other)")
  }

  @Test func `the same requests are answered alike each time`() {
    func evicted() -> [Int] {
      var simulation = PolicySimulation(LeastHitDensity(), limit: 50)
      for key in skewedTrace(5_000, keys: 400, seed: 8) { simulation.request(key) }
      return simulation.evicted
    }
    #expect(evicted() == evicted())
  }

  @Test func `a large entry of which nothing is known is refused once small ones are known to be wanted`() {
    let policy = LeastHitDensity()
    #expect(policy.admits(1, cost: 1_000))
    var simulation = PolicySimulation(policy, limit: 1_000)
    for key in skewedTrace(20_000, keys: 4_000, seed: 5) { simulation.request(key) }
    #expect(policy.admits(1, cost: 1))
    #expect(!policy.admits(1, cost: 1_000))
    // It is remembered, so that it comes in if it is asked for again and again.
    let tries = (0..<200).first { _ in policy.admits(1, cost: 1_000) }
    #expect(tries != nil)
    #expect(simulation.total.count == 1_000)
  }
}
