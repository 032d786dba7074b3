#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Into how many shards a cache is divided.
package enum MemorySizing {
  /// Enough that threads on all processors seldom meet: eight for each, a power of two.
  package static var defaultShardCount: Int {
    min(256, powerOfTwo(atLeast: processorCount * 8))
  }

  /// In how many places threads may look something up at once: for each processor one for the thread that it runs, and one
  /// for a thread that was put off it in the middle.
  package static var readerCount: Int {
    min(64, max(4, powerOfTwo(atLeast: processorCount * 2)))
  }

  /// The bound on threads for observers' handlers: 64, or eight for each processor where that is more.
  static var handlerThreadLimit: Int { max(64, processorCount * 8) }

  private static var processorCount: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }

  /// The shards for these limits. A small cache has few: eviction orders each shard by itself, and an order over a
  /// handful of entries means nothing. Over some hundreds it does: with 256 entries to each shard 20 traces at four sizes
  /// miss a thousandth more in the mean, and a fiftieth in the worst, than with 1,024.
  ///
  /// - Parameter costIsCount: whether each entry costs 1; else costs are taken for bytes.
  package static func shardCount(costLimit: Int, countLimit: Int, costIsCount: Bool = false) -> Int {
    let byCost = costLimit / (costIsCount ? 256 : 256 << 10)
    let byCount = countLimit / 256
    return min(defaultShardCount, powerOfTwo(atLeast: max(1, min(byCost, byCount))))
  }

  private static func powerOfTwo(atLeast number: Int) -> Int {
    number <= 1 ? 1 : 1 << (Int.bitWidth - (number - 1).leadingZeroBitCount)
  }
}
