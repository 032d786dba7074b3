/// Which entries make room for others. One instance a shard, called inside the shard's critical section only.
///
/// A policy orders entries; it neither knows limits nor holds values. To be told of a hit it must ask for it:
/// ``hitRule`` lets the common case, counting, run without a call.
@usableFromInline
package protocol EvictionPolicy: AnyObject {
  /// What a hit does to the entry's node.
  var hitRule: HitRule { get }

  /// Whether its nodes hold numbers of others. A policy that does not may keep something else in these words.
  var linksEntries: Bool { get }

  /// What the entry that is likely to go next promises for its cost, to be compared with other shards': infinite where
  /// there is none, nil where that is not known, or the policy has no such measure.
  var lowestDensity: Float? { get }

  /// Whether an entry that is large beside the limit should be let in, though others have to go for it. Asked before room is
  /// made for it.
  func admits(_ fingerprint: UInt32, cost: UInt32) -> Bool

  /// A new entry is in memory; its node carries its cost.
  func insert(_ number: SlotNumber, in nodes: borrowing EvictionNodes)

  /// An entry was hit. Called only where ``hitRule`` asks for it.
  func hit(_ number: SlotNumber, in nodes: borrowing EvictionNodes)

  /// An entry was given a new value of this cost.
  func update(_ number: SlotNumber, cost: UInt32, in nodes: borrowing EvictionNodes)

  /// An entry goes for another reason than room.
  func remove(_ number: SlotNumber, in nodes: borrowing EvictionNodes)

  /// Chooses the entry to evict next and unlinks it; nil where there is none but `kept`.
  func evict(sparing kept: SlotNumber, in nodes: borrowing EvictionNodes) -> SlotNumber?

  /// The entries have other numbers now.
  func renumber(_ numbers: borrowing Renumbering)

  /// All entries go at once, and what was learned about earlier ones may. Answers what is to be let go of outside the lock.
  func removeAll() -> (any Sendable)?

  /// The sums of cost and count over all linked nodes, for checks.
  var total: (cost: Int, count: Int) { get }
}

extension EvictionPolicy {
  @usableFromInline package var linksEntries: Bool { true }
  @usableFromInline package var lowestDensity: Float? { nil }
  @usableFromInline package func admits(_ fingerprint: UInt32, cost: UInt32) -> Bool { true }
}

/// What a hit does to a node.
@usableFromInline
package enum HitRule: Sendable {
  /// Adds one to its frequency, up to a maximum; at the maximum nothing is written.
  case count(upTo: UInt8)
  /// Calls ``EvictionPolicy/hit(_:in:)``.
  case tellPolicy
}

/// The eviction policies that a store can be given.
public enum EvictionPolicyKind: String, Sendable, Hashable, CaseIterable {
  /// Least hit density: learns from the requests themselves how likely entries are to be used soon, by how often and how
  /// long ago they were, and weighs that against their cost. The default.
  case leastHitDensity = "lhd"
  /// S3-FIFO, with queues and ghost measured in cost: resists scans, and what is wanted once goes in the order in which
  /// it came.
  case s3FIFO = "s3fifo"
  /// Least recently used: for those who need to predict what goes next.
  case lru

  package func makePolicy() -> any EvictionPolicy {
    switch self {
    case .leastHitDensity: LeastHitDensity()
    case .s3FIFO: S3FIFO()
    case .lru: LRU()
    }
  }
}
