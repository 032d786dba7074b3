import CisternCore

/// A record to be written.
package struct RecordDraft {
  let key: [UInt8]
  let metadata: RecordMetadata
  let bytes: [UInt8]
  /// The size of the encoded tags in bytes.
  let tagsSize: Int
  private let fields: RecordFields
  /// The size of the encoded record in bytes.
  package let size: Int

  package init(key: [UInt8], metadata: RecordMetadata, bytes: [UInt8]) {
    self.key = key
    self.metadata = metadata
    self.bytes = bytes
    tagsSize = metadata.tags.isEmpty ? 0 : RecordTags.size(of: metadata.tags)
    let storedKeySize = key.count > DiskKey.longestDirectKey ? key.count : 0
    fields = RecordFields(of: metadata, storesKeyLength: storedKeySize > 0)
    size = RecordFormat.fixedSize + fields.size + tagsSize + storedKeySize + bytes.count
  }

  /// Returns the same record with an invalidation version of the file.
  consuming func withVersion(_ fileVersion: FileInvalidationVersion) -> RecordDraft {
    guard fileVersion != metadata.fileVersion else { return self }
    var metadata = metadata
    metadata.fileVersion = fileVersion
    return RecordDraft(key: key, metadata: metadata, bytes: bytes)
  }

  /// Writes the record, as the file holds it under `diskKey`, into `target`. The size of `target` must be the
  /// record's.
  @_lifetime(target: copy target)
  package func encode(sequence: SequenceNumber, under diskKey: borrowing DiskKey, into target: inout MutableRawSpan) {
    precondition(target.byteCount == size)
    var offset = 8
    target.store(RecordFormat.version, at: &offset)
    target.store(UInt8(0), at: &offset)
    target.store(fields.rawValue, at: &offset)
    target.store(metadata.cost, at: &offset)
    target.store(sequence.number, at: &offset)
    target.store(metadata.created.nanosecondsSince1970, at: &offset)
    fields.encode(metadata, tagsSize: tagsSize, keySize: key.count, into: &target, at: &offset)
    if tagsSize > 0 {
      RecordTags.encode(metadata.tags, into: &target, at: offset)
      offset += tagsSize
    }
    if diskKey.isDigest {
      target.copy(key.rawSpan, to: offset)
      offset += key.count
    }
    target.copy(bytes.rawSpan, to: offset)
    RecordFormat.seal(&target, under: diskKey)
  }
}
