/// Reads of a disk partition's records by calls that are not generic, and not by way of the protocol: what most hits on
/// disk take.
@usableFromInline
final class DiskReader: Sendable {
  private let engine: DiskEngine
  private let partition: Partition
  private let owner: DiskOwner

  init(engine: DiskEngine, partition: Partition, owner: DiskOwner) {
    self.engine = engine
    self.partition = partition
    self.owner = owner
  }

  /// The reader of a partition; nil where it is not one of the tier that ships.
  @usableFromInline
  static func reader(of partition: any SecondTierPartition) -> DiskReader? { (partition as? DiskPartition)?.reader }

  /// As ``SecondTierPartition/withRecord(forKey:_:)``, with a copy of the bytes.
  @usableFromInline
  func record(forKey key: RawSpan) -> StoredRecord? {
    if owner.isClosed { return nil }
    return engine.withRecord(forKey: key, in: partition) { StoredRecord(metadata: $0, bytes: $1.copiedBytes()) }
  }

  /// As ``SecondTierPartition/withRecord(forKey:_:)``, for a body without a result.
  @usableFromInline
  func view(forKey key: RawSpan, _ body: (RecordMetadata, RawSpan) -> Void) {
    if owner.isClosed { return }
    engine.withRecord(forKey: key, in: partition) { body($0, $1) }
  }
}
