/// The order of ``LeastHitDensity``: which entry is to go next. Knows the nodes only; storage is its caller's.
struct HitDensityOrder: ~Copyable {
  private var cost = 0
  private var count = 0
  /// Insertions so far. It wraps: only differences matter.
  private var now: UInt32 = 1
  /// The group of slots that is looked at next.
  private var hand = 0
  private var candidates = EvictionCandidates()
  private var departed = DepartedTable()
  /// From the first eviction on: a cache that holds all has nothing to learn.
  private var learned: Learned?
  /// What those that were evicted of late promised for their cost.
  private var evictedDensity: Float = 0
  /// Insertions since the densities were computed.
  private var sinceLearning = 0

  /// Hits that are counted between two looks.
  static let maximumFrequency: UInt8 = 3
  /// Lifetimes that have to be known before anything is refused.
  private static let lifetimesToJudgeBy: Float = 256
  /// How much less than what goes a large entry has to promise to be refused.
  private static let doubt: Float = 4
  /// Entries to look at for each eviction, at least.
  private static let looks = 4

  /// Not known before the first eviction: that has to be one of its own.
  var lowestDensity: Float? { count > 0 && candidates.count == 0 ? nil : candidates.lowest }
  var total: (cost: Int, count: Int) { (cost, count) }

  mutating func insert(_ number: SlotNumber, in nodes: borrowing EvictionNodes) {
    now &+= 1
    let uses = noteReturn(of: nodes[number].fingerprint)
    nodes[number].history = UseHistory(uses: uses, lastUse: now, lastLook: now)
    nodes[use: number].frequency = 0
    nodes[use: number].queue = .main
    cost += Int(nodes[number].cost)
    count += 1
    guard learned != nil else { return }
    learnNowAndThen()
    consider(number, promising: rounded(promised(uses, age: 0), cost: nodes[number].cost), in: nodes)
  }

  func hit(_ number: SlotNumber, in nodes: borrowing EvictionNodes) {
    nodes[use: number].frequency = min(nodes[use: number].frequency + 1, Self.maximumFrequency)
  }

  mutating func update(_ number: SlotNumber, cost newCost: UInt32, in nodes: borrowing EvictionNodes) {
    precondition(nodes[use: number].queue != .none, "an entry without a place was updated")
    cost += Int(newCost) - Int(nodes[number].cost)
    nodes[number].cost = newCost
    hit(number, in: nodes)
    if learned != nil { consider(number, in: nodes) }
  }

  mutating func admits(_ fingerprint: UInt32, cost: UInt32) -> Bool {
    guard learned?.lifetimes.total ?? 0 >= Self.lifetimesToJudgeBy else { return true }
    let memory = departed.memory(of: fingerprint, at: now)
    let density = promised(min(memory?.uses ?? 0, .max - 1) + 1, age: 0) / CostWeight.of(cost)
    guard density * Self.doubt < evictedDensity else { return true }
    // Remembered as if it had come and gone: when it is wanted often enough, it is admitted.
    now &+= 1
    let uses = noteReturn(of: fingerprint)
    remember(fingerprint, uses: uses, lastUse: now)
    return false
  }

  mutating func remove(_ number: SlotNumber, in nodes: borrowing EvictionNodes) {
    precondition(nodes[use: number].queue != .none, "an entry without a place was removed")
    if nodes[use: number].queue == .candidates { candidates.remove(number) }
    nodes[use: number].queue = .none
    cost -= Int(nodes[number].cost)
    count -= 1
  }

  mutating func evict(sparing kept: SlotNumber, in nodes: borrowing EvictionNodes) -> SlotNumber? {
    guard count > (kept == .none ? 0 : 1) else { return nil }
    if learned == nil { learned = Learned(entryCount: count) }
    look(in: nodes)
    let (victim, density) = choose(sparing: kept, in: nodes)
    evictedDensity += (density - evictedDensity) * min(1, 8 / Float(count + 8))
    let history = nodes[victim].history
    remove(victim, in: nodes)
    remember(nodes[victim].fingerprint, uses: history.uses, lastUse: history.lastUse)
    return victim
  }

  mutating func renumber(_ numbers: borrowing Renumbering) {
    candidates.renumber(numbers)
  }

  mutating func removeAll() -> (any Sendable)? {
    candidates.removeAll()
    (cost, count) = (0, 0)
    guard !departed.isEmpty else { return nil }
    defer { departed = DepartedTable() }
    return departed
  }
}

extension HitDensityOrder {
  /// How often an entry that comes was used so far, this time included.
  private mutating func noteReturn(of fingerprint: UInt32) -> UInt8 {
    guard let memory = departed.remove(fingerprint, at: now) else { return 1 }
    learned?.lifetimes.countUse(after: memory.uses, age: memory.age)
    return min(memory.uses, .max - 1) + 1
  }

  private mutating func remember(_ fingerprint: UInt32, uses: UInt8, lastUse: UInt32) {
    departed.insert(fingerprint, uses: uses, lastUse: lastUse, at: now, entryCount: count) { memory in
      learned?.lifetimes.countEnd(after: memory.uses, age: memory.age)
    }
  }

  /// Looks at some entries, in the order of the table: at all of them while as many come and go as there are.
  private mutating func look(in nodes: borrowing EvictionNodes) {
    var looked = 0
    // A table may be nearly empty.
    for _ in 0..<nodes.groupCount {
      guard looked < Self.looks else { return }
      hand = hand &+ 1 < nodes.groupCount ? hand &+ 1 : 0
      var entries = nodes.entries(inGroup: hand)
      while let number = entries.next() {
        guard nodes[use: number].queue != .none else { continue }
        consider(number, in: nodes)
        looked &+= 1
      }
    }
  }

  /// The worst candidate. Ends: each turn evaluates a candidate anew, after which it is as its density says.
  private mutating func choose(sparing kept: SlotNumber, in nodes: borrowing EvictionNodes) -> (SlotNumber, Float) {
    while true {
      guard let least = candidates.least(sparing: kept) else {
        // All that it has is to be spared.
        look(in: nodes)
        continue
      }
      let density = density(of: least.number, in: nodes)
      if density <= least.density { return (least.number, density) }
      // Used since: another may be worse now.
      if density <= candidates.leastDensity(without: least.number, sparing: kept) { return (least.number, density) }
      candidates.update(least.number, density: density)
    }
  }

  /// Makes an entry a candidate if it promises less than others do.
  @inline(__always)
  private mutating func consider(_ number: SlotNumber, in nodes: borrowing EvictionNodes) {
    consider(number, promising: density(of: number, in: nodes), in: nodes)
  }

  @inline(__always)
  private mutating func consider(
    _ number: SlotNumber, promising density: Float, in nodes: borrowing EvictionNodes
  ) {
    guard nodes[use: number].queue != .candidates else { return candidates.update(number, density: density) }
    guard !candidates.leavesOut(density) else { return }
    nodes[use: number].queue = .candidates
    let left = candidates.offer(number, density: density)
    if left != .none { nodes[use: left].queue = .main }
  }

  /// What an entry promises for its cost, once its hits are noticed.
  @inline(__always)
  private mutating func density(of number: SlotNumber, in nodes: borrowing EvictionNodes) -> Float {
    if nodes[use: number].frequency == 0 {
      nodes[number].noteLook(at: now)
    } else {
      learned?.noteUses(of: number, at: now, in: nodes)
    }
    let history = nodes[number].history
    return rounded(promised(history.uses, age: now &- history.lastUse), cost: nodes[number].cost)
  }

  /// As candidates hold it: who is looked at again promises what was noted, and no more.
  @inline(__always)
  private func rounded(_ density: Float, cost: UInt32) -> Float {
    EvictionCandidates.rounded(cost > 1 ? density / CostWeight.of(cost) : density)
  }

  /// What an entry promises, whatever its cost.
  @inline(__always)
  private func promised(_ uses: UInt8, age: UInt32) -> Float {
    switch learned {
    case .some(let learned): learned.densities[uses, age]
    case nil: preconditionFailure("densities are there since the first eviction")
    }
  }

  /// Computes densities anew every so many insertions: often enough to follow what comes, seldom enough to cost nothing.
  private mutating func learnNowAndThen() {
    sinceLearning += 1
    if sinceLearning > min(max(count / 8, 128), 1024) { learn() }
  }

  private mutating func learn() {
    sinceLearning = 0
    learned?.learn(entryCount: count)
  }
}

/// What became of entries, and what that promises of others.
private struct Learned: ~Copyable {
  var lifetimes = LifetimeStatistics()
  private(set) var densities: HitDensities

  init(entryCount: Int) {
    densities = HitDensities(lifetimes, scale: Self.scale(entryCount))
  }

  /// Notices the hits that an entry has had since the last look.
  @inline(never)
  mutating func noteUses(of number: SlotNumber, at now: UInt32, in nodes: borrowing EvictionNodes) {
    var history = nodes[number].history
    history.note(nodes[use: number].frequency, at: now) { uses, age in
      lifetimes.countUse(after: uses, age: age)
    }
    nodes[use: number].frequency = 0
    nodes[number].history = history
  }

  mutating func learn(entryCount: Int) {
    if lifetimes.total > Float(max(2_000, entryCount * 10)) { lifetimes.fade() }
    densities.learn(lifetimes, scale: Self.scale(entryCount))
  }

  private static func scale(_ entryCount: Int) -> Float { Float(max(entryCount, 16)) }
}
