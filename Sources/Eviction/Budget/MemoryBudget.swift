import Locking
import Synchronization

/// A limit on cost and count that holds at every instant, over all shards of all caches that share it.
///
/// A writer reserves room before it links an entry. Room is released inside the critical section that unlinks or
/// replaces an entry. The sums therefore never exceed the limits. A cache with its own limits has a budget whose parent
/// is the store's budget. A reservation takes from both.
@usableFromInline
package final class MemoryBudget: Sendable {
  /// The maximum sum of costs.
  package let costLimit: Int
  /// The maximum number of entries.
  package let countLimit: Int
  private let parent: MemoryBudget?
  private let reservedCost = Atomic<Int>(0)
  private let reservedCount = Atomic<Int>(0)
  private let highestCost = Atomic<Int>(0)
  private let consumers = Guarded<[WeakConsumer]>([])
  private let consumerCount = Atomic<Int>(0)

  private struct WeakConsumer {
    weak let consumer: (any MemoryConsumer)?
  }

  package init(costLimit: Int, countLimit: Int = .max, parent: MemoryBudget? = nil) {
    self.costLimit = costLimit
    self.countLimit = countLimit
    self.parent = parent
    largestCost = min(costLimit, parent?.largestCost ?? .max, Int(UInt32.max) - 1)
    largestSmallCost = min(costLimit / 16, parent?.largestSmallCost ?? .max)
  }

  /// The reserved cost.
  package var cost: Int { reservedCost.load(ordering: .relaxed) }
  /// The number of entries with a reservation.
  package var count: Int { reservedCount.load(ordering: .relaxed) }
  /// The highest cost that was ever reserved.
  package var peakCost: Int { highestCost.load(ordering: .relaxed) }

  /// The largest cost that can be reserved for one entry.
  @usableFromInline
  package let largestCost: Int

  /// The largest cost that is not large: a sixteenth of the limit on cost.
  @usableFromInline
  package let largestSmallCost: Int

  /// Whether an entry of this cost would displace so many others in a full budget that the eviction policy must admit it.
  @inlinable
  package func isLarge(_ cost: UInt32) -> Bool { Int(cost) > largestSmallCost }

  /// Whether an entry of this cost currently displaces no other. Another thread can use the room at any time.
  @usableFromInline
  package func hasRoom(for cost: UInt32) -> Bool {
    Int(cost) <= costLimit - self.cost && count < countLimit && (parent?.hasRoom(for: cost) ?? true)
  }

  /// Whether a cost is more than twice the mean of the reserved entries.
  ///
  /// If all entries have similar costs, a new one displaces only one other.
  @usableFromInline
  package func isLargerThanOthers(_ cost: UInt32) -> Bool {
    Double(cost) * Double(count) > 2 * Double(self.cost)
  }

  /// The effective limits, including those of the parents.
  @usableFromInline
  package var overallLimit: (cost: Int, count: Int) {
    let above = parent?.overallLimit ?? (.max, .max)
    return (min(costLimit, above.cost), min(countLimit, above.count))
  }

  /// Reserves room in this budget and its parents, or in none of them. The cost may be negative only if `count` is
  /// zero.
  ///
  /// - Returns: Nil if the room was reserved. Otherwise, the shortage.
  @usableFromInline
  package func reserve(cost: Int, count: Int) -> MemoryShortage? {
    tryReserve(cost: cost, count: count).map { shortage($0) }
  }

  /// A limit that a reservation would exceed.
  @usableFromInline
  package struct ExceededLimit: Sendable {
    /// The number of steps from the budget to the parent that has the limit.
    @usableFromInline package var level: Int
    @usableFromInline package let reason: EvictionReason
  }

  /// Reserves room as ``reserve(cost:count:)`` does, without a reference count operation.
  ///
  /// - Returns: Nil if the room was reserved. Otherwise, the limit that lacks room.
  @usableFromInline
  package func tryReserve(cost: Int, count: Int) -> ExceededLimit? {
    guard Self.add(count, to: reservedCount, limit: countLimit) else { return ExceededLimit(level: 0, reason: .count) }
    guard Self.add(cost, to: reservedCost, limit: costLimit) else {
      reservedCount.subtract(count, ordering: .relaxed)
      return ExceededLimit(level: 0, reason: .cost)
    }
    if var exceeded = parent?.tryReserve(cost: cost, count: count) {
      reservedCost.subtract(cost, ordering: .relaxed)
      reservedCount.subtract(count, ordering: .relaxed)
      exceeded.level += 1
      return exceeded
    }
    if cost > 0 { notePeak() }
    return nil
  }

  /// Returns the shortage of a limit that a reservation in this budget would exceed.
  @usableFromInline
  package func shortage(_ exceeded: ExceededLimit) -> MemoryShortage {
    MemoryShortage(of: above(exceeded.level), for: exceeded.reason)
  }

  /// Returns the budget this number of steps up the chain of parents.
  @usableFromInline
  package func above(_ level: Int) -> MemoryBudget {
    guard level > 0, let parent else { return self }
    return parent.above(level - 1)
  }

  /// Updates the peak. The first load avoids most writes, which would take the cache line from all other threads.
  private func notePeak() {
    let cost = cost
    if cost > highestCost.load(ordering: .relaxed) { highestCost.max(cost, ordering: .relaxed) }
  }

  /// Releases room in this budget and its parents.
  @usableFromInline
  package func release(cost: Int, count: Int) {
    if cost != 0 { reservedCost.subtract(cost, ordering: .relaxed) }
    if count != 0 { reservedCount.subtract(count, ordering: .relaxed) }
    parent?.release(cost: cost, count: count)
  }

  // A difference of zero or less always fits. Other differences use compare-and-exchange, so that the sum never
  // exceeds the limit, not even briefly.
  private static func add(_ difference: Int, to sum: borrowing Atomic<Int>, limit: Int) -> Bool {
    // A replacement of equal cost is common. The early return avoids contention on this counter.
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
  /// Whether the budget has exactly one memory consumer, which then holds all reservations.
  @usableFromInline
  package var hasOneConsumer: Bool { consumerCount.load(ordering: .relaxed) == 1 }
}

extension MemoryBudget {
  /// Adds a memory consumer to this budget and its parents. The reference is weak.
  package func add(_ consumer: any MemoryConsumer) {
    // The strong references are released after unlocking. One of them may be the last reference to its consumer.
    _ = consumers.withLock { consumers in
      let alive = consumers.compactMap(\.consumer)
      consumers = (alive + [consumer]).map { WeakConsumer(consumer: $0) }
      consumerCount.store(consumers.count, ordering: .relaxed)
      return alive
    }
    parent?.add(consumer)
  }

  /// Returns whether the consumer that needs room should evict an entry itself.
  ///
  /// Consumers evict in proportion to their cost. A busy cache therefore cannot displace others to keep unused
  /// entries, and others cannot keep a new cache out.
  ///
  /// - Parameters:
  ///   - cost: The cost of one part of the consumer.
  ///   - parts: The number of parts. Keys are distributed evenly over them.
  /// - Returns: Whether this consumer should evict.
  @usableFromInline
  package func shouldEvict(own cost: Int, parts: Int) -> Bool {
    guard consumerCount.load(ordering: .relaxed) > 1 else { return true }
    return Int.random(in: 0..<max(1, self.cost)) / parts < cost
  }

  /// Evicts one entry of a memory consumer, chosen with a probability proportional to its cost. Returns false if no
  /// consumer has entries.
  ///
  /// - Complexity: O(*n*) for *n* consumers. Takes one lock of each consumer, and a store may have hundreds.
  @usableFromInline
  @discardableResult
  package func evictSomewhere(for reason: EvictionReason) -> Bool {
    let candidates = consumers.withLock { consumers in consumers.compactMap(\.consumer) }
    guard !candidates.isEmpty else { return false }
    let costs = candidates.map(\.estimatedCost)
    var left = Double.random(in: 0..<max(1, costs.reduce(0, +)))
    let chosen = costs.firstIndex { cost in
      left -= cost
      return left < 0
    }
    // All estimates may be zero, or the chosen consumer may have become empty. Any other consumer is then
    // acceptable.
    let first = chosen ?? candidates.indices.randomElement() ?? 0
    for offset in candidates.indices where candidates[(first + offset) % candidates.count].evictOne(for: reason) {
      return true
    }
    return false
  }

  /// Evicts entries until the cost is at most `target`, then releases unused storage.
  ///
  /// Entries that are added during the call can stay. Otherwise, the call might never end.
  package func trim(toCost target: Int) {
    var remaining = count
    while remaining > 0, cost > max(0, target), evictSomewhere(for: .cost) { remaining -= 1 }
    for consumer in consumers.withLock({ consumers in consumers.compactMap(\.consumer) }) { consumer.releaseSlots() }
  }
}
