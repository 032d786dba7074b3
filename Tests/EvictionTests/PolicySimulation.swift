import CisternTesting

@testable import CisternCore
@testable import Eviction

/// A cache that consists only of a policy and a limit. It records evictions and misses.
struct PolicySimulation: ~Copyable {
  private var table = SlotTable<Int, Int>()
  let policy: any EvictionPolicy
  let limit: Int
  private(set) var misses = 0
  private(set) var evicted: [Int] = []

  init(_ policy: any EvictionPolicy, limit: Int) {
    self.policy = policy
    self.limit = limit
  }

  private static func fingerprint(_ key: Int) -> UInt32 {
    var generator = SeededGenerator(seed: UInt64(key))
    return UInt32(truncatingIfNeeded: generator.next())
  }

  var total: (cost: Int, count: Int) { policy.total }

  var keys: [Int] {
    var keys: [Int] = []
    table.forEach { number, _, _ in keys.append(table.key(of: number)) }
    return keys.sorted()
  }

  /// The sum of the costs in the table, added up entry by entry.
  var recounted: (cost: Int, count: Int) {
    var sum = (cost: 0, count: 0)
    table.forEach { _, _, node in
      sum.cost += Int(node.cost)
      sum.count += 1
    }
    return sum
  }

  func slot(of key: Int) -> SlotNumber? { table.find(key, fingerprint: Self.fingerprint(key)) }

  /// Hits the entry, or makes room and inserts it.
  mutating func request(_ key: Int, cost: Int = 1) {
    if let slot = slot(of: key) { return hit(slot) }
    misses += 1
    guard cost <= limit else { return }
    while policy.total.cost + cost > limit {
      guard evict() != nil else { preconditionFailure("nothing is left to evict, and there is no room") }
    }
    if table.isFull { policy.renumber(table.rebuild(relinking: policy.linksEntries)) }
    let held = CachedValue(value: key, timing: .plain(until: .distantFuture), isPersisted: false)
    let slot = table.insert(key, fingerprint: Self.fingerprint(key), entry: .ready(held))
    table[node: slot].cost = UInt32(cost)
    policy.insert(slot, in: table.evictionNodes)
  }

  private mutating func hit(_ slot: SlotNumber) {
    switch policy.hitRule {
    case .count(let maximum): if table[slot].use.frequency < maximum { table[slot].use.frequency += 1 }
    case .notifyPolicy: policy.hit(slot, in: table.evictionNodes)
    }
  }

  /// Changes the cost of a key and evicts others to make room, as a set of a cached key does.
  mutating func update(_ key: Int, cost: Int) {
    guard let slot = slot(of: key) else { return }
    while policy.total.cost - Int(table[node: slot].cost) + cost > limit {
      guard evict(keeping: slot) != nil else { break }
    }
    policy.update(slot, cost: UInt32(cost), in: table.evictionNodes)
  }

  mutating func remove(_ key: Int) {
    guard let slot = slot(of: key) else { return }
    policy.remove(slot, in: table.evictionNodes)
    _ = table.remove(slot)
  }

  @discardableResult
  mutating func evict(keeping kept: SlotNumber = .none) -> Int? {
    guard let victim = policy.evict(keeping: kept, in: table.evictionNodes) else { return nil }
    let key = table.key(of: victim)
    _ = table.remove(victim)
    evicted.append(key)
    return key
  }
}

/// S3-FIFO as described in its paper, for entries of cost 1, with arrays and an exact queue as the ghost.
struct NaiveS3FIFO {
  let limit: Int
  private var small: [Int] = []
  private var main: [Int] = []
  private var frequency: [Int: Int] = [:]
  private var ghost: [Int: Int] = [:]
  private var drops = 0
  private(set) var misses = 0

  init(limit: Int) {
    self.limit = limit
  }

  mutating func request(_ key: Int) {
    if let hits = frequency[key] {
      frequency[key] = min(3, hits + 1)
      return
    }
    misses += 1
    while small.count + main.count >= limit { evict() }
    frequency[key] = 0
    if let drop = ghost.removeValue(forKey: key), drops - drop < limit { main.append(key) } else { small.append(key) }
  }

  private mutating func evict() {
    guard small.count * 10 >= limit || main.isEmpty else { return evictFromMain() }
    let key = small.removeFirst()
    if frequency[key, default: 0] >= 2 {
      frequency[key] = 0
      main.append(key)
    } else {
      frequency[key] = nil
      drops += 1
      ghost[key] = drops
    }
  }

  private mutating func evictFromMain() {
    while true {
      let key = main.removeFirst()
      guard let hits = frequency[key], hits > 0 else {
        frequency[key] = nil
        return
      }
      frequency[key] = hits - 1
      main.append(key)
    }
  }
}

/// Returns requests in which a few keys are frequent and most are rare.
func skewedTrace(_ count: Int, keys: Int, seed: UInt64) -> [Int] {
  var generator = SeededGenerator(seed: seed)
  // The cumulative sums of a Zipf-like distribution, for binary search.
  var sums: [Double] = []
  var sum = 0.0
  for rank in 1...keys {
    // The weight lies between rank^-1 and rank^-0.75, because the standard library offers only square roots.
    let root = Double(rank).squareRoot()
    sum += 0.5 / Double(rank) + 0.5 / (root * root.squareRoot())
    sums.append(sum)
  }
  return (0..<count).map { _ in
    let point = Double.random(in: 0..<sum, using: &generator)
    var low = 0
    var high = keys - 1
    while low < high {
      let middle = (low + high) / 2
      if sums[middle] > point { high = middle } else { low = middle + 1 }
    }
    return low
  }
}

extension EvictionPolicyKind {
  /// Makes the policy of a cache with one shard.
  func makePolicy() -> any EvictionPolicy { makePolicies(count: 1)[0] }
}
