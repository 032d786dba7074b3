/// A tier behind memory, which stores records as bytes.
///
/// A ``Store`` has a second tier on disk. Your own type can implement this protocol. Examples are a server that
/// several machines share, and a tier that injects failures in a test. <doc:YourOwnSecondTier> has a complete tier.
///
/// One tier serves all caches of a store. Each cache has its own partition of the tier.
public protocol SecondTier: AnyObject, Sendable {
  /// Opens the partition of a cache, or creates it if the tier does not have it.
  ///
  /// Equal names denote the same partition.
  ///
  /// - Parameters:
  ///   - name: The name of the cache.
  ///   - lossHandler: The handler of record losses. The tier calls it when a record was evicted, was found damaged,
  ///     or was staged and could not be written. The tier calls it outside all locks and transactions. A tier that
  ///     loses no records ignores it.
  /// - Returns: The partition of the cache.
  /// - Throws: `CisternError` if the name is not valid for the tier, or if the tier is closed.
  func partition(
    named name: String, lossHandler: @escaping @Sendable ([RecordLoss]) -> Void
  ) throws(CisternError) -> any SecondTierPartition

  /// Waits until every write that was staged before the call is committed, and is as durable as the store promises.
  ///
  /// - Throws: `CisternError` if a write since the last flush could not be committed, even if the tier works again.
  func flush() async throws(CisternError)

  /// Flushes the staged writes, and releases all resources.
  ///
  /// Afterwards, reads of the partitions are misses, and the partitions refuse writes.
  ///
  /// - Throws: `CisternError` if the flush fails. The tier is closed nevertheless.
  func close() async throws(CisternError)

  /// The current counters and sizes of the tier. Reading them is cheap, and takes no transaction.
  var statistics: SecondTierStatistics { get }
}
