/// The eviction order of ``LeastHitDensity``. It accesses nodes only; the caller manages storage.
struct HitDensityOrder: ~Copyable {
  private var cost = 0
  private var count = 0
  /// The number of insertions, which serves as the clock. It wraps, so only differences are meaningful.
  private var now: UInt32 = 1
  /// The group of slots that was examined last.
  private var hand = 0
  private var candidates = EvictionCandidates()
  private var departed = GhostHistoryTable()
  /// The observed lifetimes and their densities; nil until the first eviction. A cache that holds everything has
  /// nothing to learn.
  private var learned: LearnedDensities?
  /// The moving average of the densities of evicted entries.
  private var evictedDensity: Float = 0
  /// The number of insertions since the densities were last computed.
  private var sinceLearning = 0

  /// The maximum number of hits that are counted between two looks at an entry.
  static let maximumFrequency: UInt8 = 3
  /// The weight of lifetimes that must be known before ``admits(_:cost:)`` rejects an entry.
  private static let lifetimesToJudgeBy: Float = 256
  /// The margin for rejection. An entry is rejected if its density times this factor is below that of evicted
  /// entries.
  private static let doubt: Float = 4
  /// The minimum number of entries to examine for each eviction.
  private static let looks = 4

  /// Nil while the shard has entries but no candidates, for example until its first eviction. The shard then evicts
  /// one of these entries.
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
    precondition(nodes[use: number].queue != .none, "the updated entry is in no queue")
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
    // Recorded as if it had been inserted and evicted. After enough requests, the entry is admitted.
    now &+= 1
    let uses = noteReturn(of: fingerprint)
    remember(fingerprint, uses: uses, lastUse: now)
    return false
  }

  mutating func remove(_ number: SlotNumber, in nodes: borrowing EvictionNodes) {
    precondition(nodes[use: number].queue != .none, "the removed entry is in no queue")
    if nodes[use: number].queue == .candidates { candidates.remove(number) }
    nodes[use: number].queue = .none
    cost -= Int(nodes[number].cost)
    count -= 1
  }

  mutating func evict(keeping kept: SlotNumber, in nodes: borrowing EvictionNodes) -> SlotNumber? {
    guard count > (kept == .none ? 0 : 1) else { return nil }
    if learned == nil { learned = LearnedDensities(entryCount: count) }
    look(in: nodes)
    let (victim, density) = choose(keeping: kept, in: nodes)
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
    defer { departed = GhostHistoryTable() }
    return departed
  }
}

extension HitDensityOrder {
  /// Removes the ghost of an inserted entry. Returns the entry's number of uses, including this insertion.
  private mutating func noteReturn(of fingerprint: UInt32) -> UInt8 {
    guard let memory = departed.remove(fingerprint, at: now) else { return 1 }
    learned?.lifetimes.countUse(after: memory.uses, age: memory.age)
    return min(memory.uses, .max - 1) + 1
  }

  private mutating func remember(_ fingerprint: UInt32, uses: UInt8, lastUse: UInt32) {
    let entry = GhostHistoryTable.EvictedEntry(fingerprint: fingerprint, uses: uses, lastUse: lastUse)
    departed.insert(entry, at: now, entryCount: count) { memory in
      learned?.lifetimes.countEnd(after: memory.uses, age: memory.age)
    }
  }

  /// Examines the next groups of slots, until ``looks`` entries were considered. The position advances from
  /// eviction to eviction, so each entry is examined repeatedly.
  private mutating func look(in nodes: borrowing EvictionNodes) {
    var looked = 0
    // The loop is bounded by the number of groups, because a table may be nearly empty.
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

  /// Returns the candidate with the least density, and that density.
  ///
  /// The loop terminates: each iteration re-evaluates one candidate, whose stored density is then current.
  private mutating func choose(keeping kept: SlotNumber, in nodes: borrowing EvictionNodes) -> (SlotNumber, Float) {
    while true {
      guard let least = candidates.least(keeping: kept) else {
        // The pool has no candidate other than the spared entry.
        look(in: nodes)
        continue
      }
      let density = density(of: least.number, in: nodes)
      if density <= least.density { return (least.number, density) }
      // Uses since the last look raised the density. Another candidate may now have a lower one.
      if density <= candidates.leastDensity(without: least.number, keeping: kept) { return (least.number, density) }
      candidates.update(least.number, density: density)
    }
  }

  /// Offers an entry to the candidates, or updates its density if it is one.
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

  /// Returns the density of an entry for its cost, after its new hits were recorded.
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

  /// Rounds as ``EvictionCandidates`` does, so that an unchanged entry compares equal to its stored density.
  @inline(__always)
  private func rounded(_ density: Float, cost: UInt32) -> Float {
    EvictionCandidates.rounded(cost > 1 ? density / CostWeight.of(cost) : density)
  }

  /// Returns the density of an entry, regardless of its cost.
  @inline(__always)
  private func promised(_ uses: UInt8, age: UInt32) -> Float {
    switch learned {
    case .some(let learned): learned.densities[uses, age]
    case nil: preconditionFailure("the first eviction computes the densities")
    }
  }

  /// Recomputes the densities after a number of insertions that grows with the number of entries, within bounds.
  /// The interval is short enough to follow the workload, and long enough for a negligible cost.
  private mutating func learnNowAndThen() {
    sinceLearning += 1
    if sinceLearning > min(max(count / 8, 128), 1024) { learn() }
  }

  private mutating func learn() {
    sinceLearning = 0
    learned?.learn(entryCount: count)
  }
}

/// The observed lifetimes, and the densities computed from them.
private struct LearnedDensities: ~Copyable {
  var lifetimes = LifetimeStatistics()
  private(set) var densities: HitDensities

  init(entryCount: Int) {
    densities = HitDensities(lifetimes, scale: Self.scale(entryCount))
  }

  /// Records the hits of an entry since its last look.
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
