/// A policy that selects the entries to evict. Each shard has one instance and calls it only within its critical
/// section.
///
/// A policy orders entries. It knows no limits and holds no values. A policy that must run code on a hit requests
/// this by ``hitRule``. Otherwise a hit only increments a counter, without a call.
@usableFromInline
package protocol EvictionPolicy: AnyObject {
  /// The effect of a hit on the entry's node.
  var hitRule: HitRule { get }

  /// Whether nodes store links to other nodes. Another policy may store its own data in those fields.
  var linksEntries: Bool { get }

  /// The hit density of the entry that is likely to be evicted next, for comparison with other shards. It is
  /// infinite if the policy has no entries. It is nil if the density is unknown, or if the policy does not compute
  /// densities.
  var lowestDensity: Float? { get }

  /// Admits an entry whose cost is a large part of the limit, or rejects it. The caller asks before it makes room. A
  /// policy may remember a rejected entry.
  ///
  /// - Returns: Whether the entry is admitted.
  func admit(_ fingerprint: UInt32, cost: UInt32) -> Bool

  /// Links a new entry. Its node already contains the cost.
  func insert(_ number: SlotNumber, in nodes: borrowing EvictionNodes)

  /// Records a hit. Called only if ``hitRule`` is ``HitRule/notifyPolicy``.
  func hit(_ number: SlotNumber, in nodes: borrowing EvictionNodes)

  /// Sets the cost of an entry whose value was replaced.
  func update(_ number: SlotNumber, cost: UInt32, in nodes: borrowing EvictionNodes)

  /// Unlinks an entry that leaves memory for a reason other than eviction.
  func remove(_ number: SlotNumber, in nodes: borrowing EvictionNodes)

  /// Unlinks the next entry to evict and returns it; nil if no entry other than `kept` is linked.
  func evict(keeping kept: SlotNumber, in nodes: borrowing EvictionNodes) -> SlotNumber?

  /// Returns the entry that the policy would evict next, for comparison with other shards. The entry stays linked.
  /// Nil if no entry other than `kept` is linked, or if the policy does not compute densities.
  func nominate(keeping kept: SlotNumber, in nodes: borrowing EvictionNodes) -> Nominee?

  /// Unlinks a nominated entry to evict it. The shard is unchanged since the nomination.
  func evict(_ nominee: Nominee, in nodes: borrowing EvictionNodes)

  /// Replaces the slot numbers after the table was rebuilt.
  func renumber(_ numbers: borrowing Renumbering)

  /// Unlinks all entries, and may discard statistics of evicted ones.
  ///
  /// - Returns: An object that the caller must release outside the lock.
  func removeAll() -> (any Sendable)?

  /// The sums of cost and count over all linked nodes.
  var total: (cost: Int, count: Int) { get }
}

extension EvictionPolicy {
  @usableFromInline package var linksEntries: Bool { true }
  @usableFromInline package var lowestDensity: Float? { nil }
  @usableFromInline package func nominate(keeping kept: SlotNumber, in nodes: borrowing EvictionNodes) -> Nominee? {
    nil
  }
  @usableFromInline package func evict(_ nominee: Nominee, in nodes: borrowing EvictionNodes) {
    preconditionFailure("the policy nominates no entry")
  }
  @usableFromInline package func admit(_ fingerprint: UInt32, cost: UInt32) -> Bool { true }
}
