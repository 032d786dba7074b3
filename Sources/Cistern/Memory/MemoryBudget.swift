import Locking
import Synchronization

/// A limit on cost and count that holds at every instant, over all shards of all caches that share it.
///
/// Room is reserved before an entry is linked and released after it was unlinked, so the sums never pass the limits. A
/// cache with limits of its own has a budget whose parent is the store's: a reservation takes from both.
@usableFromInline
package final class MemoryBudget: Sendable {
  /// The highest sum of costs.
  package let costLimit: Int
  /// The highest number of entries.
  package let countLimit: Int
  private let parent: MemoryBudget?
  private let reservedCost = Atomic<Int>(0)
  private let reservedCount = Atomic<Int>(0)
  private let highestCost = Atomic<Int>(0)
  private let tenants = Guarded<[Tenant]>([])
  private let tenantCount = Atomic<Int>(0)

  private struct Tenant {
    weak let table: (any MemoryTenant)?
  }

  package init(costLimit: Int, countLimit: Int = .max, parent: MemoryBudget? = nil) {
    self.costLimit = costLimit
    self.countLimit = countLimit
    self.parent = parent
    largestCost = min(costLimit, parent?.largestCost ?? .max, Int(UInt32.max) - 1)
  }

  /// The cost reserved now.
  package var cost: Int { reservedCost.load(ordering: .relaxed) }
  /// The entries reserved for now.
  package var count: Int { reservedCount.load(ordering: .relaxed) }
  /// The highest cost that was ever reserved.
  package var peakCost: Int { highestCost.load(ordering: .relaxed) }

  /// The largest cost that could ever be reserved for one entry.
  @usableFromInline
  package let largestCost: Int

  /// Whether the next entry would be one too many, whatever it costs.
  @usableFromInline
  package var isFullByCount: Bool { count >= countLimit || parent?.isFullByCount ?? false }

  /// The limits in force, the parents' too.
  @usableFromInline
  package var overallLimit: (cost: Int, count: Int) {
    let above = parent?.overallLimit ?? (.max, .max)
    return (min(costLimit, above.cost), min(countLimit, above.count))
  }

  /// Takes room, here and in the parents; takes nothing where it is not there. Differences may be negative.
  ///
  /// - Returns: nil where the room was taken; else the budget that is short of it, whose tenants have to give way.
  @usableFromInline
  package func reserve(cost: Int, count: Int) -> MemoryBudget? {
    take(cost: cost, count: count).map { above($0) }
  }

  /// As ``reserve(cost:count:)``, without a reference to be counted: which one is short, in steps to the parents from here.
  @usableFromInline
  func take(cost: Int, count: Int) -> Int? {
    guard Self.add(cost, to: reservedCost, limit: costLimit) else { return 0 }
    guard Self.add(count, to: reservedCount, limit: countLimit) else {
      reservedCost.subtract(cost, ordering: .relaxed)
      return 0
    }
    if let level = parent?.take(cost: cost, count: count) {
      reservedCost.subtract(cost, ordering: .relaxed)
      reservedCount.subtract(count, ordering: .relaxed)
      return level + 1
    }
    if cost > 0 { notePeak() }
    return nil
  }

  /// The budget so many steps up.
  @usableFromInline
  func above(_ level: Int) -> MemoryBudget {
    guard level > 0, let parent else { return self }
    return parent.above(level - 1)
  }

  /// Looked at first: as a rule there was a higher one, and a write would take the line of memory from all other threads.
  private func notePeak() {
    let cost = cost
    if cost > highestCost.load(ordering: .relaxed) { highestCost.max(cost, ordering: .relaxed) }
  }

  /// Gives room back.
  @usableFromInline
  package func release(cost: Int, count: Int) {
    if cost != 0 { reservedCost.subtract(cost, ordering: .relaxed) }
    if count != 0 { reservedCount.subtract(count, ordering: .relaxed) }
    parent?.release(cost: cost, count: count)
  }

  // A difference of zero or less always fits. Else compare and exchange: never above the limit, not even for an instant.
  private static func add(_ difference: Int, to sum: borrowing Atomic<Int>, limit: Int) -> Bool {
    // A value in the place of one that costs as much: all threads would meet here for nothing.
    if difference == 0 { return true }
    if difference < 0 {
      sum.add(difference, ordering: .relaxed)
      return true
    }
    var current = sum.load(ordering: .relaxed)
    while difference <= limit - current {
      let (exchanged, original) = sum.weakCompareExchange(
        expected: current, desired: current + difference, ordering: .relaxed)
      if exchanged { return true }
      current = original
    }
    return false
  }
}

extension MemoryBudget {
  /// Whether all that is reserved is one tenant's.
  @usableFromInline
  package var hasOneTenant: Bool { tenantCount.load(ordering: .relaxed) == 1 }

  /// The gauges of whoever holds this much under the budget.
  package func statistics(entryCount: Int, cost: Int) -> MemoryStatistics {
    let limit = overallLimit
    return MemoryStatistics(
      entryCount: entryCount, cost: cost, peakCost: peakCost, costLimit: limit.cost,
      countLimit: limit.count == .max ? nil : limit.count)
  }
}

/// Something whose entries a budget can ask to go.
@usableFromInline
package protocol MemoryTenant: AnyObject, Sendable {
  /// Roughly the cost of what it holds; right in the mean.
  var estimatedCost: Double { get }
  /// Evicts one entry; false where it holds none.
  func evictOne() -> Bool
  /// Gives back what it keeps for entries that it no longer holds.
  func giveBackSlots()
}

extension MemoryBudget {
  /// Adds a tenant, here and in the parents. It is not kept alive.
  package func add(_ tenant: any MemoryTenant) {
    // Those that are there are let go of after unlocking: one of them may be about to go, with all that it holds.
    _ = tenants.withLock { tenants in
      let alive = tenants.compactMap(\.table)
      tenants = (alive + [tenant]).map { Tenant(table: $0) }
      tenantCount.store(tenants.count, ordering: .relaxed)
      return alive
    }
    parent?.add(tenant)
  }

  /// Whether the next entry to go, where this budget is short of room, should be one of the tenant's own. Tenants give in
  /// proportion to what they hold, so that a busy cache cannot keep what it no longer uses from the others, nor a new
  /// one be kept out.
  ///
  /// - Parameters:
  ///   - cost: what one part of the tenant holds.
  ///   - parts: the number of its parts, over which keys spread evenly.
  @usableFromInline
  package func shouldEvict(own cost: Int, parts: Int) -> Bool {
    guard tenantCount.load(ordering: .relaxed) > 1 else { return true }
    return Int.random(in: 0..<max(1, self.cost)) / parts < cost
  }

  /// Evicts one entry of some tenant, chosen in proportion to what each holds; false where nobody holds any.
  ///
  /// Takes one lock of each tenant's: a store may have hundreds.
  @usableFromInline
  @discardableResult
  package func evictSomewhere() -> Bool {
    let candidates = tenants.withLock { tenants in tenants.compactMap(\.table) }
    guard !candidates.isEmpty else { return false }
    let costs = candidates.map(\.estimatedCost)
    var left = Double.random(in: 0..<max(1, costs.reduce(0, +)))
    let chosen = costs.firstIndex { cost in
      left -= cost
      return left < 0
    }
    // The estimates may all have been nothing, and the chosen one may have emptied meanwhile: then any other.
    let first = chosen ?? candidates.indices.randomElement() ?? 0
    for offset in candidates.indices where candidates[(first + offset) % candidates.count].evictOne() { return true }
    return false
  }

  /// Evicts until no more than this cost is left.
  package func trim(toCost target: Int) {
    while cost > max(0, target), evictSomewhere() {}
    for tenant in tenants.withLock({ tenants in tenants.compactMap(\.table) }) { tenant.giveBackSlots() }
  }
}
