/// A cache's way to its partition of the second tier: the partition, and how keys become bytes. An object, so that each
/// look-up counts one reference and not five.
@usableFromInline
final class SecondTierBinding<Key: Hashable & Sendable>: Sendable {
  @usableFromInline let partition: any SecondTierPartition
  /// Reads a record and takes its bytes out. Runs outside all locks.
  @usableFromInline let read: @Sendable (Key) -> StoredRecord?
  /// Shows a record to a closure, with nothing copied.
  @usableFromInline let view: @Sendable (Key, (RecordMetadata, RawSpan) -> Void) -> Void
  /// The key's bytes. The user's code, where the key type is: outside all locks.
  @usableFromInline let bytes: @Sendable (Key) -> [UInt8]
  /// The key of these bytes; nil where there is none.
  let key: @Sendable ([UInt8]) -> Key?

  @usableFromInline
  init(
    partition: any SecondTierPartition, read: @escaping @Sendable (Key) -> StoredRecord?,
    view: @escaping @Sendable (Key, (RecordMetadata, RawSpan) -> Void) -> Void,
    bytes: @escaping @Sendable (Key) -> [UInt8], key: @escaping @Sendable ([UInt8]) -> Key?
  ) {
    self.partition = partition
    self.read = read
    self.view = view
    self.bytes = bytes
    self.key = key
  }
}

extension SecondTierBinding where Key: CacheKey {
  @inlinable
  convenience init(_ partition: any SecondTierPartition) {
    let read: @Sendable (Key) -> StoredRecord?
    let view: @Sendable (Key, (RecordMetadata, RawSpan) -> Void) -> Void
    // The tier that ships is called directly; others by way of the protocol, whose generic call costs some 50 ns more.
    if let disk = DiskReader.reader(of: partition) {
      read = { key in key.withKeyBytes { disk.record(forKey: $0) } }
      view = { key, body in key.withKeyBytes { disk.view(forKey: $0, body) } }
    } else {
      read = { key in
        key.withKeyBytes { keyBytes in
          partition.withRecord(forKey: keyBytes) { metadata, bytes in
            StoredRecord(metadata: metadata, bytes: bytes.copiedBytes())
          }
        }
      }
      view = { key, body in
        key.withKeyBytes { keyBytes in _ = partition.withRecord(forKey: keyBytes) { body($0, $1) } }
      }
    }
    self.init(
      partition: partition, read: read, view: view, bytes: { key in key.withKeyBytes { $0.copiedBytes() } },
      key: { bytes in Key(keyBytes: bytes.rawSpan) })
  }
}
