/// A record that was read from the second tier: its metadata, and a copy of its bytes.
@usableFromInline
struct StoredRecord {
  @usableFromInline let metadata: RecordMetadata
  @usableFromInline let bytes: [UInt8]

  @inlinable
  init(metadata: RecordMetadata, bytes: [UInt8]) {
    self.metadata = metadata
    self.bytes = bytes
  }
}
