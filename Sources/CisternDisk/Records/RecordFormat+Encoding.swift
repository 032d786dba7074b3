import CisternCore
import LMDB

/// A record to be written.
package struct RecordDraft {
  let key: [UInt8]
  let metadata: RecordMetadata
  let bytes: [UInt8]
  private let tagsSize: Int

  package init(key: [UInt8], metadata: RecordMetadata, bytes: [UInt8]) {
    self.key = key
    self.metadata = metadata
    self.bytes = bytes
    tagsSize = metadata.tags.isEmpty ? 0 : RecordTags.size(of: metadata.tags)
  }

  /// Returns the same record with an invalidation version of the file.
  func withVersion(_ fileVersion: FileInvalidationVersion) -> RecordDraft {
    guard fileVersion != metadata.fileVersion else { return self }
    var metadata = metadata
    metadata.fileVersion = fileVersion
    return RecordDraft(key: key, metadata: metadata, bytes: bytes)
  }

  /// The size of the encoded record in bytes.
  package var size: Int {
    RecordFormat.fixedSize + flags.optionalSize + tagsSize
      + (key.count > DiskKey.longestDirectKey ? key.count : 0) + bytes.count
  }

  private var flags: RecordFormat.Flags {
    var flags: RecordFormat.Flags = []
    if metadata.expires != nil { flags.insert(.expiry) }
    if metadata.grace != 0 { flags.insert(.grace) }
    if metadata.idle != 0 { flags.insert(.idle) }
    if metadata.lastUsed != nil { flags.insert(.lastUsed) }
    if metadata.refreshAhead != 0 { flags.insert(.refreshAhead) }
    if metadata.invalidationVersion != 0 { flags.insert(.invalidationVersion) }
    if metadata.schemaVersion != 0 { flags.insert(.schemaVersion) }
    if tagsSize > 0 { flags.insert(.tags) }
    if key.count > DiskKey.longestDirectKey { flags.insert(.key) }
    if metadata.isNegative { flags.insert(.negative) }
    if !metadata.windows.areUnlimited { flags.insert(.windows) }
    return flags
  }

  /// Writes the record, as the file holds it under `diskKey`, into `target`. The size of `target` must be the
  /// record's.
  @_lifetime(target: copy target)
  package func encode(sequence: SequenceNumber, under diskKey: borrowing DiskKey, into target: inout MutableRawSpan) {
    precondition(target.byteCount == size)
    var offset = 8
    target.store(RecordFormat.version, at: &offset)
    target.store(UInt8(0), at: &offset)
    target.store(flags.rawValue, at: &offset)
    target.store(metadata.cost, at: &offset)
    target.store(sequence.number, at: &offset)
    target.store(metadata.created.nanosecondsSince1970, at: &offset)
    encodeOptionalFields(into: &target, at: &offset)
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

  @_lifetime(target: copy target)
  private func encodeOptionalFields(into target: inout MutableRawSpan, at offset: inout Int) {
    if !metadata.windows.areUnlimited {
      target.store(metadata.windows.whileRevalidate, at: &offset)
      target.store(metadata.windows.ifError, at: &offset)
    }
    if let expires = metadata.expires { target.store(expires.nanosecondsSince1970, at: &offset) }
    if metadata.grace != 0 { target.store(metadata.grace, at: &offset) }
    if metadata.idle != 0 { target.store(metadata.idle, at: &offset) }
    if let lastUsed = metadata.lastUsed { target.store(lastUsed.nanosecondsSince1970, at: &offset) }
    if metadata.refreshAhead != 0 { target.store(metadata.refreshAhead, at: &offset) }
    if metadata.invalidationVersion != 0 { target.store(metadata.invalidationVersion, at: &offset) }
    if metadata.schemaVersion != 0 { target.store(metadata.schemaVersion, at: &offset) }
    if tagsSize > 0 { target.store(UInt32(tagsSize), at: &offset) }
    if key.count > DiskKey.longestDirectKey { target.store(UInt32(key.count), at: &offset) }
  }
}

extension RecordFormat {
  /// Writes the checksum. All other bytes of the record must be final.
  @_lifetime(record: copy record)
  package static func seal(_ record: inout MutableRawSpan, under key: RawSpan) {
    let sum = checksum(of: record.bytes, under: key)
    record.storeBytes(of: sum.littleEndian, toByteOffset: 0, as: UInt64.self)
  }

  /// Writes the checksum. All other bytes of the record must be final.
  @_lifetime(record: copy record)
  package static func seal(_ record: inout MutableRawSpan, under key: borrowing DiskKey) {
    let bytes = key.copiedBytes()
    seal(&record, under: bytes.rawSpan)
  }

  /// Replaces the sequence number of an encoded record, and updates its checksum.
  @_lifetime(record: copy record)
  package static func renumber(_ record: inout MutableRawSpan, sequence: SequenceNumber, under key: borrowing DiskKey) {
    record.storeBytes(of: sequence.number.littleEndian, toByteOffset: sequenceOffset, as: UInt64.self)
    seal(&record, under: key)
  }
}

extension MutableRawSpan {
  /// Stores the number in little-endian order, and advances the offset. Traps if the number is out of bounds.
  @_lifetime(self: copy self)
  fileprivate mutating func store<Number: FixedWidthInteger & BitwiseCopyable>(_ number: Number, at offset: inout Int) {
    storeBytes(of: number.littleEndian, toByteOffset: offset, as: Number.self)
    offset += MemoryLayout<Number>.size
  }
}
