/// The connection of a cache to its partition of the second tier: the partition, and the conversion of keys to
/// bytes.
///
/// It is a class, so that a look-up retains one object instead of six.
@usableFromInline
final class SecondTierBinding<Key: Hashable & Sendable>: Sendable {
  @usableFromInline let partition: any TransactionalPartition
  /// The answers of a custom tier that it has no record; nil for a tier that marks lost records itself.
  @usableFromInline let absences: AbsenceCounts?
  /// Returns the key's record with a copy of its bytes, or nil. The caller must not hold a lock.
  @usableFromInline let read: @Sendable (Key) -> StoredRecord?
  /// Calls a closure with the key's record, without a copy. The caller must not hold a lock.
  @usableFromInline let view: @Sendable (Key, (RecordMetadata, RawSpan) -> Void) -> Void
  /// Returns the key's bytes. It runs the key type's code, which can be the user's, so the caller must not hold a
  /// lock.
  @usableFromInline let bytes: @Sendable (Key) -> [UInt8]
  /// Returns the key of these bytes, or nil if they are not a valid key.
  let key: @Sendable ([UInt8]) -> Key?

  @usableFromInline
  init(
    partition: any TransactionalPartition, read: @escaping @Sendable (Key) -> StoredRecord?,
    view: @escaping @Sendable (Key, (RecordMetadata, RawSpan) -> Void) -> Void,
    bytes: @escaping @Sendable (Key) -> [UInt8], key: @escaping @Sendable ([UInt8]) -> Key?
  ) {
    self.partition = partition
    absences = (partition as? AdaptedPartition)?.absences
    self.read = read
    self.view = view
    self.bytes = bytes
    self.key = key
  }
}

extension SecondTierBinding where Key: CacheKey {
  @inlinable
  convenience init(_ partition: any TransactionalPartition) {
    let read: @Sendable (Key) -> StoredRecord?
    let view: @Sendable (Key, (RecordMetadata, RawSpan) -> Void) -> Void
    // The direct call for the store's own tier avoids the cost of a generic call through the protocol.
    if let reader = (partition as? any RecordReaderOwner)?.recordReader {
      read = { key in key.withKeyBytes { reader.record(forKey: $0) } }
      view = { key, body in key.withKeyBytes { reader.view(forKey: $0, body) } }
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
