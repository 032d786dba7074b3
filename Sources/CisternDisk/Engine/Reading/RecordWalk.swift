import CisternCore
import LMDB

/// The records that an enumeration finds in one snapshot.
struct RecordWalk: ~Copyable {
  let range: RecordRange
  let partition: Partition
  let invalidations: InvalidationTable
  let snapshot: TransactionNumber
  /// Whether the keys must begin with bytes.
  let hasPrefix: Bool
  var chunk = RecordChunk()
  /// Whether an invalidation ended after the snapshot, so that its records cannot be compared with it.
  var isOutdated = false

  init(range: RecordRange, of partition: Partition, snapshot: TransactionNumber) {
    self.range = range
    hasPrefix = !range.prefix.isEmpty
    self.partition = partition
    invalidations = partition.invalidations
    self.snapshot = snapshot
  }

  /// Adds a record, unless an invalidation conceals it, or it has another codec.
  ///
  /// - Parameters:
  ///   - metadata: The metadata, as the file has it.
  ///   - key: The key.
  ///   - digest: The name of the record in the order of the file, if that is not the key.
  mutating func add(_ metadata: RecordMetadata, key: RawSpan, digest: RawSpan? = nil) {
    // The invalidations are read after the record, so that every earlier one applies to it.
    if !invalidations.isVisibleWithoutComparison(at: snapshot) {
      switch partition.visibility(of: metadata, key: key, snapshot: snapshot) {
      case .visible: break
      case .concealed: return
      case .outdated:
        isOutdated = true
        return
      }
    }
    if let digest { chunk.append(digest: digest, key: key, metadata) } else { chunk.append(key: key, metadata) }
  }
}
