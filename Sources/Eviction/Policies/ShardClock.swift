/// A shard's view of its cache's clock, which counts the insertions into all shards.
///
/// The shard reads the shared counter now and then, and adds its own insertions since. The time never decreases.
struct ShardClock {
  /// The insertions into all shards, when the shard last read the counter.
  private var known: UInt64
  /// The insertions into this shard that the counter does not contain.
  private(set) var unreported: UInt64 = 0
  /// The unit of time is two to this power.
  private let shift: UInt64

  /// - Parameters:
  ///   - shardCount: The number of shards. With more than sixteen, the unit of time is longer, so that the ages of
  ///     entries in many large shards fit into their fields.
  ///   - insertions: The insertions into all shards so far.
  init(shardCount: Int, insertions: UInt64) {
    shift = UInt64(max(0, shardCount.trailingZeroBitCount - 4))
    known = insertions
  }

  /// The time. It wraps, so only differences are meaningful.
  @inline(__always)
  var now: UInt32 { UInt32(truncatingIfNeeded: (known &+ unreported) &>> shift) }

  /// Counts an insertion into this shard.
  mutating func tick() { unreported &+= 1 }

  /// Reads the counter, which does not contain the unreported insertions.
  mutating func catchUp(with insertions: UInt64) { known = max(known, insertions) }

  /// Marks all insertions as reported. The counter contains them now.
  mutating func noteReport(_ insertions: UInt64) {
    known = max(known &+ unreported, insertions)
    unreported = 0
  }
}
