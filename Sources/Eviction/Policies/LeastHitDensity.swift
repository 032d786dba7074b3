/// A policy that evicts the entry with the fewest expected hits for its time and cost.
///
/// The expectation is learned: ``LifetimeStatistics`` and ``HitDensities`` give the probability that an entry with
/// a given number of uses and a given age is used soon. The policy therefore follows recency or frequency,
/// depending on which predicts uses. It evicts the entries of a scan at once, and it keeps a part of a loop that
/// does not fit.
///
/// An eviction examines the next few entries in table order. It evicts the worst of these and of the earlier
/// candidates (``EvictionCandidates``). A hit only increments a counter. The policy reads the counter when it next
/// examines the entry.
///
/// All shards of a cache learn together, in ``CacheLifetimes``, and compare their nominees.
///
/// The policy follows LHD (Beckmann, Chen and Cidon, NSDI 2018), with a memory of evicted entries as in ARC and
/// LIRS.
package final class LeastHitDensity: EvictionPolicy {
  // Guarded by the shard's lock, as all state of a policy. The dynamic exclusivity check is disabled: `order` calls
  // no code that calls back into this object.
  @safe @exclusivity(unchecked) private var order: HitDensityOrder

  /// - Parameters:
  ///   - lifetimes: The observations that all shards of the cache share.
  ///   - weight: The weight of an entry's cost.
  package init(_ lifetimes: CacheLifetimes = CacheLifetimes(shardCount: 1), weight: CostWeight = .ofMisses) {
    order = HitDensityOrder(lifetimes, weight: weight)
  }

  package var hitRule: HitRule { .count(upTo: HitDensityOrder.maximumFrequency) }
  package var linksEntries: Bool { false }
  package var lowestDensity: Float? { order.lowestDensity }
  package var total: (cost: Int, count: Int) { order.total }

  package func insert(_ number: SlotNumber, in nodes: borrowing EvictionNodes) { order.insert(number, in: nodes) }

  package func hit(_ number: SlotNumber, in nodes: borrowing EvictionNodes) { order.hit(number, in: nodes) }

  package func update(_ number: SlotNumber, cost: UInt32, in nodes: borrowing EvictionNodes) {
    order.update(number, cost: cost, in: nodes)
  }

  package func admit(_ fingerprint: UInt32, cost: UInt32) -> Bool { order.admit(fingerprint, cost: cost) }

  package func remove(_ number: SlotNumber, in nodes: borrowing EvictionNodes) { order.remove(number, in: nodes) }

  package func nominate(keeping kept: SlotNumber, in nodes: borrowing EvictionNodes) -> Nominee? {
    order.nominate(keeping: kept, in: nodes)
  }

  package func evict(_ nominee: Nominee, in nodes: borrowing EvictionNodes) { order.evict(nominee, in: nodes) }

  package func evict(keeping kept: SlotNumber, in nodes: borrowing EvictionNodes) -> SlotNumber? {
    guard let nominee = order.nominate(keeping: kept, in: nodes) else { return nil }
    order.evict(nominee, in: nodes)
    return nominee.number
  }

  package func renumber(_ numbers: borrowing Renumbering) { order.renumber(numbers) }

  package func removeAll() -> (any Sendable)? { order.removeAll() }
}
