/// Reads the records of a partition without generic calls. Most hits in the second tier take this path.
@usableFromInline
package protocol RecordReader: AnyObject, Sendable {
  /// Returns the record of the key with a copy of its bytes. See ``SecondTierPartition/withRecord(forKey:_:)``.
  func record(forKey key: RawSpan) -> StoredRecord?

  /// Calls `body` with the record of the key. See ``SecondTierPartition/withRecord(forKey:_:)``.
  func view(forKey key: RawSpan, _ body: (RecordMetadata, RawSpan) -> Void)
}
