/// A policy that evicts the least recently used entry.
package final class LRU: EvictionPolicy {
  // Guarded by the shard's lock, as all state of a policy.
  private var entries = NodeList(.main)

  package init() {}

  package var hitRule: HitRule { .notifyPolicy }

  package func insert(_ number: SlotNumber, in nodes: borrowing EvictionNodes) {
    entries.append(number, in: nodes)
  }

  package func hit(_ number: SlotNumber, in nodes: borrowing EvictionNodes) {
    entries.moveToNewest(number, in: nodes)
  }

  package func update(_ number: SlotNumber, cost: UInt32, in nodes: borrowing EvictionNodes) {
    entries.remove(number, in: nodes)
    nodes[number].cost = cost
    entries.append(number, in: nodes)
  }

  package func remove(_ number: SlotNumber, in nodes: borrowing EvictionNodes) {
    entries.remove(number, in: nodes)
  }

  package func evict(keeping kept: SlotNumber, in nodes: borrowing EvictionNodes) -> SlotNumber? {
    var victim = entries.oldest
    if victim == kept, victim != .none { victim = nodes[victim].newer }
    guard victim != .none else { return nil }
    entries.remove(victim, in: nodes)
    return victim
  }

  package func renumber(_ numbers: borrowing Renumbering) {
    entries.renumber(numbers)
  }

  package func removeAll() -> (any Sendable)? {
    entries = NodeList(.main)
    return nil
  }

  package var total: (cost: Int, count: Int) { (entries.cost, entries.count) }
}
