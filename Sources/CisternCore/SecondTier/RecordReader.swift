/// Reads a partition's records by calls that are not generic: the path of most hits in the second tier.
@usableFromInline
package protocol RecordReader: AnyObject, Sendable {
  /// As ``SecondTierPartition/withRecord(forKey:_:)``, with a copy of the bytes.
  func record(forKey key: RawSpan) -> StoredRecord?

  /// As ``SecondTierPartition/withRecord(forKey:_:)``, for a body without a result.
  func view(forKey key: RawSpan, _ body: (RecordMetadata, RawSpan) -> Void)
}

/// A partition that has a reader.
@usableFromInline
package protocol RecordReaderOwner: SecondTierPartition {
  /// The reader of the partition's records.
  var recordReader: any RecordReader { get }
}
