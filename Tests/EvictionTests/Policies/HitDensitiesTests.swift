import CisternTesting
import Testing

@testable import CisternCore
@testable import Eviction

/// The statistics of lifetimes, and the densities that are computed from them.
struct HitDensitiesTests {
  @Test func `classes of age have neither gaps nor overlaps`() {
    var last = 0
    for age in 0..<100_000 as Range<UInt32> {
      let ageClass = LifetimeClass.ofAge(age)
      #expect(ageClass == last || ageClass == last + 1)
      #expect(LifetimeClass.start(ofAge: ageClass) <= Float(age))
      #expect(Float(age) < LifetimeClass.start(ofAge: ageClass + 1))
      last = ageClass
    }
    #expect(LifetimeClass.ofAge(.max) == LifetimeClass.ageClasses - 1)
    let classes = (0...255 as ClosedRange<UInt8>).map { LifetimeClass.ofUses($0) }
    #expect(classes == classes.sorted())
    #expect(classes.last == LifetimeClass.useClasses - 1)
  }

  @Test func `without statistics, more uses and a later age promise more hits`() {
    let densities = HitDensities(LifetimeStatistics(), scale: 100)
    #expect(densities[2, 0] > densities[1, 0])
    #expect(densities[200, 0] > densities[2, 0])
    #expect(densities[2, 0] >= densities[2, 50])
  }

  @Test func `an entry's density is the best over all later ages of eviction`() {
    for seed in 0..<20 as Range<UInt64> {
      var generator = SeededGenerator(seed: seed)
      var lifetimes = LifetimeStatistics()
      for _ in 0..<2_000 {
        let (uses, age) = (UInt8(generator.next(below: 60)), UInt32(1 << generator.next(below: 14)))
        if generator.next(below: 3) == 0 {
          lifetimes.countEnd(after: uses, age: age)
        } else {
          lifetimes.countUse(after: uses, age: age)
        }
      }
      let densities = HitDensities(lifetimes, scale: 100)
      for uses in [1, 3, 10, 60] as [UInt8] {
        let chances = lifetimes.chances(ofUses: LifetimeClass.ofUses(uses), scale: 100)
        for age in chances.indices {
          var best = 0.0
          var (left, used, waited) = (1.0, 0.0, 0.0)
          for later in age..<chances.count {
            let chance = Double(chances[later])
            used += left * chance
            waited += left * Double(LifetimeClass.width(ofAge: later)) * (1 - chance / 2)
            left *= 1 - chance
            best = max(best, used / waited)
          }
          let density = Double(densities[uses, UInt32(LifetimeClass.start(ofAge: age))])
          #expect(abs(density - best) <= best * 1e-4, "\(uses) uses, age \(age), seed \(seed)")
        }
      }
    }
  }

  @Test func `in a loop, an entry promises more hits as its next request comes nearer`() {
    var lifetimes = LifetimeStatistics()
    for _ in 0..<1_000 { lifetimes.countUse(after: 1, age: 1_000) }
    let densities = HitDensities(lifetimes, scale: 500)
    #expect(densities[1, 900] > 2 * densities[1, 300])
    #expect(densities[1, 300] > densities[1, 10])
  }

  @Test func `after a burst an entry promises few hits`() {
    var lifetimes = LifetimeStatistics()
    for _ in 0..<1_000 {
      lifetimes.countUse(after: 1, age: 3)
      lifetimes.countEnd(after: 1, age: 2_000)
    }
    let densities = HitDensities(lifetimes, scale: 500)
    #expect(densities[1, 0] > 50 * densities[1, 100])
  }

  @Test func `faded counts weigh less than new ones`() {
    var lifetimes = LifetimeStatistics()
    for _ in 0..<1_000 { lifetimes.countUse(after: 1, age: 10) }
    for _ in 0..<20 { lifetimes.fade() }
    #expect(lifetimes.total < 20)
    for _ in 0..<1_000 { lifetimes.countEnd(after: 1, age: 10) }
    #expect(HitDensities(lifetimes, scale: 100)[1, 8] < 0.02)
  }

  @Test(arguments: [(1, 0), (1, 2), (3, 3)] as [(UInt8, UInt8)])
  func `uses that are noticed late are spread over the time since the last look`(before: UInt8, count: UInt8) {
    // The history goes through the word that stores it, across the wrap of the clock.
    var node = EvictionNode(fingerprint: 1)
    let start = UInt32.max - 500
    node.history = UseHistory(uses: before, lastUse: start, lastLook: start &+ 600)
    var ages: [UInt32] = []
    var uses: [UInt8] = []
    node.history.note(count, at: start &+ 1_000) { before, age in
      uses.append(before)
      ages.append(age)
    }
    #expect(uses == (0..<count).map { before + $0 })
    #expect(ages.reduce(0, +) <= 1_000)
    #expect(node.history.uses == before + count)
    if let first = ages.first { #expect(first > 600) } else { #expect(node.history.lastUse == start) }
  }

  @Test func `the weight of a cost grows with the cost, but more slowly`() {
    var last: Float = 2
    for exponent in 0..<32 {
      let cost = UInt32(1) << UInt32(exponent)
      let density = CostWeight.ofMisses.weigh(1, cost: cost)
      #expect(density < last)
      #expect(density >= 1 / Float(cost))
      last = density
      #expect(CostWeight.ofMissedCost.weigh(3, cost: cost) == 3)
    }
    #expect(CostWeight.ofMisses.weigh(1, cost: 0) == 1)
  }
}

extension HitDensities {
  convenience init(_ lifetimes: borrowing LifetimeStatistics, scale: Float) {
    self.init()
    learn(lifetimes, scale: scale)
  }
}

extension LifetimeStatistics {
  /// Counts a use of an entry with this number of earlier uses.
  mutating func countUse(after uses: UInt8, age: UInt32) {
    count(ObservedLifetimes.Lifetime(index: LifetimeClass.index(uses: uses, age: age), endsWithUse: true))
  }

  /// Counts the end of a lifetime without a use.
  mutating func countEnd(after uses: UInt8, age: UInt32) {
    count(ObservedLifetimes.Lifetime(index: LifetimeClass.index(uses: uses, age: age), endsWithUse: false))
  }
}
