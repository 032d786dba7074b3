/// The eviction order of ``LeastHitDensity``. It accesses nodes only; the caller manages storage.
struct HitDensityOrder: ~Copyable {
  private var cost = 0
  private var count = 0
  /// The observations of all shards.
  private let lifetimes: CacheLifetimes
  /// The densities of `lifetimes`, because each look reads them.
  private let densities: HitDensities
  private var clock: ShardClock
  private var observed = ObservedLifetimes()
  /// The number of entries at the last report.
  private var reportedCount = 0
  /// The number of insertions from one report to the next.
  private var reportInterval: UInt64 = 1
  /// Whether the densities are known. They are not before the first eviction of the cache.
  private var isLearning = false
  /// The weight of an entry's cost.
  private let weight: CostWeight
  /// The group of slots that was examined last.
  private var hand = 0
  private var candidates = EvictionCandidates()
  private var ghosts = GhostHistoryTable()

  /// The maximum number of hits that are counted between two looks at an entry.
  static let maximumFrequency: UInt8 = 3
  /// The weight of lifetimes that must be known before ``admit(_:cost:)`` rejects an entry.
  private static let lifetimesToJudgeBy: Float = 16
  /// The minimum number of entries to examine for each eviction.
  private static let looks = 4

  init(_ lifetimes: CacheLifetimes, weight: CostWeight) {
    self.lifetimes = lifetimes
    densities = lifetimes.densities
    self.weight = weight
    clock = ShardClock(shardCount: lifetimes.shardCount, insertions: lifetimes.insertions)
  }

  /// Nil while the shard has entries but no candidates, for example until its first eviction. The shard then evicts
  /// one of these entries.
  var lowestDensity: Float? { count > 0 && candidates.count == 0 ? nil : candidates.lowest }
  var total: (cost: Int, count: Int) { (cost, count) }

  mutating func insert(_ number: SlotNumber, in nodes: borrowing EvictionNodes) {
    tick()
    let now = clock.now
    let uses = noteReturn(of: nodes[number].fingerprint)
    nodes[number].history = UseHistory(uses: uses, lastUse: now, lastLook: now)
    nodes[use: number].frequency = 0
    nodes[use: number].queue = .main
    cost += Int(nodes[number].cost)
    count += 1
    guard isLearning else { return }
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
    if isLearning { consider(number, at: clock.now, in: nodes) }
  }

  mutating func admit(_ fingerprint: UInt32, cost: UInt32) -> Bool {
    let known = lifetimes.weight
    guard isLearning, known >= Self.lifetimesToJudgeBy else { return true }
    let memory = ghosts.memory(of: fingerprint, at: clock.now)
    let density = weight.weigh(promised(min(memory?.uses ?? 0, .max - 1) + 1, age: 0), cost: cost)
    // The margin narrows as the cache learns. Densities of few lifetimes are uncertain.
    guard density * (1 + 16 / known.squareRoot()) < lifetimes.evictedDensity else { return true }
    // Recorded as if it had been inserted and evicted. After enough requests, the entry is admitted.
    tick()
    let uses = noteReturn(of: fingerprint)
    remember(fingerprint, uses: uses, lastUse: clock.now)
    return false
  }

  mutating func remove(_ number: SlotNumber, in nodes: borrowing EvictionNodes) {
    precondition(nodes[use: number].queue != .none, "the removed entry is in no queue")
    if nodes[use: number].queue == .candidates { candidates.remove(number) }
    nodes[use: number].queue = .none
    cost -= Int(nodes[number].cost)
    count -= 1
  }

  /// Returns the entry to evict next; nil if the shard has none other than `kept`.
  mutating func nominate(keeping kept: SlotNumber, in nodes: borrowing EvictionNodes) -> Nominee? {
    guard count > (kept == .none ? 0 : 1) else { return nil }
    if !isLearning { beginLearning() }
    // The densities of different shards are compared, so they must be of the same time.
    clock.catchUp(with: lifetimes.insertions)
    look(in: nodes)
    return choose(keeping: kept, in: nodes)
  }

  /// Unlinks the nominated entry, and leaves a ghost.
  mutating func evict(_ nominee: Nominee, in nodes: borrowing EvictionNodes) {
    let victim = nominee.number
    observed.noteEviction(of: nominee.density)
    let history = nodes[victim].history
    remove(victim, in: nodes)
    remember(nodes[victim].fingerprint, uses: history.uses, lastUse: history.lastUse)
  }

  mutating func renumber(_ numbers: borrowing Renumbering) {
    candidates.renumber(numbers)
  }

  mutating func removeAll() -> (any Sendable)? {
    candidates.removeAll()
    (cost, count) = (0, 0)
    report()
    guard !ghosts.isEmpty else { return nil }
    defer { ghosts = GhostHistoryTable() }
    return ghosts
  }
}

extension HitDensityOrder {
  /// Removes the ghost of an inserted entry. Returns the entry's number of uses, including this insertion.
  private mutating func noteReturn(of fingerprint: UInt32) -> UInt8 {
    guard let memory = ghosts.remove(fingerprint, at: clock.now) else { return 1 }
    observed.noteUse(after: memory.uses, age: memory.age)
    return min(memory.uses, .max - 1) + 1
  }

  private mutating func remember(_ fingerprint: UInt32, uses: UInt8, lastUse: UInt32) {
    let entry = GhostHistoryTable.EvictedEntry(fingerprint: fingerprint, uses: uses, lastUse: lastUse)
    let (lifetimes, count) = (lifetimes, count)
    ghosts.insert(
      entry, at: clock.now,
      recordCount: GhostHistoryTable.recordCount(
        entryCount: count, totalCount: lifetimes.entryCount, shardCount: lifetimes.shardCount)
    ) { memory in
      observed.noteEnd(after: memory.uses, age: memory.age)
    }
  }

  /// Examines the next groups of slots, until ``looks`` entries were considered. The position advances from
  /// eviction to eviction, so each entry is examined repeatedly.
  private mutating func look(in nodes: borrowing EvictionNodes) {
    var looked = 0
    let now = clock.now
    // The loop is bounded by the number of groups, because a table may be nearly empty.
    for _ in 0..<nodes.groupCount {
      guard looked < Self.looks else { return }
      hand = hand &+ 1 < nodes.groupCount ? hand &+ 1 : 0
      var entries = nodes.entries(inGroup: hand)
      while let number = entries.next() {
        guard nodes[use: number].queue != .none else { continue }
        consider(number, at: now, in: nodes)
        looked &+= 1
      }
    }
  }

  /// Returns the candidate with the least density, and that density.
  ///
  /// Each iteration re-evaluates one candidate, whose stored density is then current. The number of iterations is
  /// bounded, because another shard can change the densities during the loop.
  private mutating func choose(keeping kept: SlotNumber, in nodes: borrowing EvictionNodes) -> Nominee {
    var attempts = 0
    let now = clock.now
    while true {
      guard let least = candidates.least(keeping: kept) else {
        // The pool has no candidate other than the spared entry.
        look(in: nodes)
        continue
      }
      let density = density(of: least.number, at: now, in: nodes)
      if density <= least.density { return Nominee(number: least.number, density: density) }
      // Uses since the last look raised the density. Another candidate may now have a lower one.
      attempts += 1
      if attempts == EvictionCandidates.capacity
        || density <= candidates.leastDensity(without: least.number, keeping: kept)
      {
        return Nominee(number: least.number, density: density)
      }
      candidates.update(least.number, density: density)
    }
  }

  /// Offers an entry to the candidates, or updates its density if it is one.
  @inline(__always)
  private mutating func consider(_ number: SlotNumber, at now: UInt32, in nodes: borrowing EvictionNodes) {
    consider(number, promising: density(of: number, at: now, in: nodes), in: nodes)
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
  private mutating func density(
    of number: SlotNumber, at now: UInt32, in nodes: borrowing EvictionNodes
  ) -> Float {
    if nodes[use: number].frequency == 0 {
      nodes[number].noteLook(at: now)
    } else {
      noteUses(of: number, at: now, in: nodes)
    }
    let history = nodes[number].history
    return rounded(promised(history.uses, age: now &- history.lastUse), cost: nodes[number].cost)
  }

  /// Records the hits of an entry since its last look.
  @inline(never)
  private mutating func noteUses(of number: SlotNumber, at now: UInt32, in nodes: borrowing EvictionNodes) {
    var history = nodes[number].history
    history.note(nodes[use: number].frequency, at: now) { uses, age in
      observed.noteUse(after: uses, age: age)
    }
    nodes[use: number].frequency = 0
    nodes[number].history = history
  }

  /// Rounds as ``EvictionCandidates`` does, so that an unchanged entry compares equal to its stored density.
  @inline(__always)
  private func rounded(_ density: Float, cost: UInt32) -> Float {
    EvictionCandidates.rounded(weight.weigh(density, cost: cost))
  }

  /// Returns the density of an entry, regardless of its cost.
  @inline(__always)
  private func promised(_ uses: UInt8, age: UInt32) -> Float { densities[uses, age] }
}

extension HitDensityOrder {
  /// Counts an insertion, and reports now and then.
  @inline(__always)
  private mutating func tick() {
    clock.tick()
    if clock.unreported >= reportInterval || observed.count >= ObservedLifetimes.enough { report() }
  }

  /// Reports the insertions and the number of entries, and hands over the observations.
  @inline(never)
  private mutating func report() {
    clock.noteReport(lifetimes.report(insertions: clock.unreported, entries: count - reportedCount))
    reportedCount = count
    reportInterval = lifetimes.reportInterval
    if !isLearning { isLearning = lifetimes.isLearning }
    if isLearning { lifetimes.take(&observed) }
  }

  @inline(never)
  private mutating func beginLearning() {
    report()
    lifetimes.beginLearning()
    isLearning = true
  }
}
