/// Evicts what promises the fewest hits for its time and cost, going by what became of entries like it.
///
/// What entries promise is learned: how likely one that was used so often, so long ago, is to be used soon
/// (``LifetimeStatistics``, ``HitDensities``). From that comes what other policies have built in: recency where that
/// tells, frequency where it does, letting go at once of what a scan brings, keeping a part of a loop that does not fit.
/// Eviction looks at the next few entries in the order of the table, and evicts the worst of these and of those that it
/// remembers (``EvictionCandidates``). A hit only counts; it is noticed when its entry is looked at next.
///
/// After LHD (Beckmann, Chen and Cidon, NSDI 2018), with a memory of what was evicted, as in ARC and LIRS.
package final class LeastHitDensity: EvictionPolicy {
  // Guarded by the shard's lock, as all of a policy is. Not checked again for exclusive use: nothing that it calls comes back
  // to it.
  @safe @exclusivity(unchecked) private var order = HitDensityOrder()

  package init() {}

  package var hitRule: HitRule { .count(upTo: HitDensityOrder.maximumFrequency) }
  package var linksEntries: Bool { false }
  package var lowestDensity: Float? { order.lowestDensity }
  package var total: (cost: Int, count: Int) { order.total }

  package func insert(_ number: SlotNumber, in nodes: borrowing EvictionNodes) { order.insert(number, in: nodes) }

  package func hit(_ number: SlotNumber, in nodes: borrowing EvictionNodes) { order.hit(number, in: nodes) }

  package func update(_ number: SlotNumber, cost: UInt32, in nodes: borrowing EvictionNodes) {
    order.update(number, cost: cost, in: nodes)
  }

  package func admits(_ fingerprint: UInt32, cost: UInt32) -> Bool { order.admits(fingerprint, cost: cost) }

  package func remove(_ number: SlotNumber, in nodes: borrowing EvictionNodes) { order.remove(number, in: nodes) }

  package func evict(sparing kept: SlotNumber, in nodes: borrowing EvictionNodes) -> SlotNumber? {
    order.evict(sparing: kept, in: nodes)
  }

  package func renumber(_ numbers: borrowing Renumbering) { order.renumber(numbers) }

  package func removeAll() -> (any Sendable)? { order.removeAll() }
}
