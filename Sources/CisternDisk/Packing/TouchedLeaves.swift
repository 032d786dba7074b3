/// The leaves of the index that a transaction has changed, by the positions of digests among all digests.
///
/// Digests are even, so the position of a digest tells its leaf well enough.
struct TouchedLeaves: Sendable {
  private struct Leaf: Hashable {
    let generation: Generation
    let position: UInt64
  }

  /// The number of leaves of the index.
  private let count: UInt64
  private var leaves: Set<Leaf> = []

  init(indexPages: Int) {
    count = UInt64(max(indexPages, 1))
  }

  mutating func note(_ digest: RecordDigest, of generation: Generation) {
    let share = digest.bits << UInt64(UInt64.bitWidth - RecordDigest.bitCount)
    leaves.insert(Leaf(generation: generation, position: share.multipliedFullWidth(by: count).high))
  }

  /// The number of leaves.
  var total: Int { leaves.count }
}
