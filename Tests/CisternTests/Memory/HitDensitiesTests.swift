import Testing

@testable import Cistern

/// What is counted, and what is made of it.
struct HitDensitiesTests {
  @Test func `classes of age have no gap and no overlap`() {
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

  @Test func `while nothing is known, what was used more often and later promises more`() {
    let densities = HitDensities(LifetimeStatistics(), scale: 100)
    #expect(densities[2, 0] > densities[1, 0])
    #expect(densities[200, 0] > densities[2, 0])
    #expect(densities[2, 0] >= densities[2, 50])
  }

  @Test func `in a loop, the nearer its turn the more an entry promises`() {
    var lifetimes = LifetimeStatistics()
    for _ in 0..<1_000 { lifetimes.countUse(after: 1, age: 1_000) }
    let densities = HitDensities(lifetimes, scale: 500)
    #expect(densities[1, 900] > 2 * densities[1, 300])
    #expect(densities[1, 300] > densities[1, 10])
  }

  @Test func `after a burst an entry promises little`() {
    var lifetimes = LifetimeStatistics()
    for _ in 0..<1_000 {
      lifetimes.countUse(after: 1, age: 3)
      lifetimes.countEnd(after: 1, age: 2_000)
    }
    let densities = HitDensities(lifetimes, scale: 500)
    #expect(densities[1, 0] > 50 * densities[1, 100])
  }

  @Test func `what faded counts less than what comes now`() {
    var lifetimes = LifetimeStatistics()
    for _ in 0..<1_000 { lifetimes.countUse(after: 1, age: 10) }
    for _ in 0..<20 { lifetimes.fade() }
    #expect(lifetimes.total < 20)
    for _ in 0..<1_000 { lifetimes.countEnd(after: 1, age: 10) }
    #expect(HitDensities(lifetimes, scale: 100)[1, 8] < 0.02)
  }

  @Test(arguments: [(1, 0), (1, 2), (3, 3)] as [(UInt8, UInt8)])
  func `uses that are noticed late are spread over the time since the last look`(before: UInt8, count: UInt8) {
    // Through the word that holds it, across the wrap of the clock.
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

  @Test func `fewer misses of objects cost some of bytes: the weight of a cost grows, and slower than it`() {
    var last: Float = 0
    for exponent in 0..<32 {
      let cost = UInt32(1) << UInt32(exponent)
      #expect(CostWeight.of(cost) > last)
      #expect(CostWeight.of(cost) <= Float(cost))
      last = CostWeight.of(cost)
    }
    #expect(CostWeight.of(0) == 1)
  }
}
