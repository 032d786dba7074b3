#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The numbers of shards, reader positions and handler threads, derived from the limits and the machine.
package enum MemorySizing {
  /// The default number of shards: eight for each processor, rounded up to a power of two. Threads then rarely
  /// contend for a shard.
  package static var defaultShardCount: Int { shardCount(ofProcessors: processorCount) }

  /// The size of the table of visible readers. Each processor has one position for its running thread, and one for
  /// a thread that was preempted during a look-up.
  package static var readerCount: Int {
    min(64, max(4, powerOfTwo(atLeast: processorCount * 2)))
  }

  /// The maximum number of threads for handlers of observers: the greater of 64 and eight for each processor.
  package static var handlerThreadLimit: Int { max(64, processorCount * 8) }

  private static var processorCount: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }

  /// Returns the number of shards for these limits.
  ///
  /// A small cache has few shards. A shard orders its own entries, and an order over a few entries predicts poorly.
  /// Each shard therefore has a share of at least about 256 entries, or of one MiB, if its limits allow.
  ///
  /// - Parameters:
  ///   - costLimit: The maximum sum of costs.
  ///   - countLimit: The maximum number of entries.
  ///   - costIsCount: Whether each entry costs 1. Otherwise, costs are assumed to be bytes.
  ///   - processorCount: The number of processors; nil for those of the machine.
  /// - Returns: The number of shards.
  package static func shardCount(
    costLimit: Int, countLimit: Int, costIsCount: Bool = false, processorCount: Int? = nil
  ) -> Int {
    let byCost = costLimit / (costIsCount ? 256 : 1 << 20)
    let byCount = countLimit / 256
    let greatest = processorCount.map { shardCount(ofProcessors: $0) } ?? defaultShardCount
    return min(greatest, powerOfTwo(atLeast: max(1, min(byCost, byCount))))
  }

  private static func shardCount(ofProcessors count: Int) -> Int { min(256, powerOfTwo(atLeast: max(1, count) * 8)) }

  private static func powerOfTwo(atLeast number: Int) -> Int {
    number <= 1 ? 1 : 1 << (Int.bitWidth - (number - 1).leadingZeroBitCount)
  }
}
