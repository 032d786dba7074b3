/// A record that was read from the second tier: its metadata, and a copy of its bytes.
@usableFromInline
package struct StoredRecord {
  @usableFromInline package let metadata: RecordMetadata
  @usableFromInline package let bytes: [UInt8]

  @inlinable
  package init(metadata: RecordMetadata, bytes: [UInt8]) {
    self.metadata = metadata
    self.bytes = bytes
  }
}
