import CisternCore

/// Reads of a disk partition's records without generics and without the protocol.
///
/// Most hits in the disk tier use this type.
final class DiskReader: RecordReader {
  private let engine: DiskEngine
  private let partition: Partition
  private let owner: DiskOwner

  init(engine: DiskEngine, partition: Partition, owner: DiskOwner) {
    self.engine = engine
    self.partition = partition
    self.owner = owner
  }

  /// Returns the record of the key with a copy of its bytes. See ``SecondTierPartition/withRecord(forKey:_:)``.
  func record(forKey key: RawSpan) -> StoredRecord? {
    if owner.isClosed { return nil }
    return engine.withRecord(forKey: key, in: partition) { StoredRecord(metadata: $0, bytes: $1.copiedBytes()) }
  }

  /// Calls `body` with the record of the key. See ``SecondTierPartition/withRecord(forKey:_:)``.
  func view(forKey key: RawSpan, _ body: (RecordMetadata, RawSpan) -> Void) {
    if owner.isClosed { return }
    engine.withRecord(forKey: key, in: partition) { body($0, $1) }
  }
}
