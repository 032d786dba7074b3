import CisternCore

extension RecordDraft {
  /// The size of the packed record without the zeros at its end, in bytes.
  var packedSize: Int {
    PackedRecordFormat.headerSize + packedFields.size + tagsSize + key.count + bytes.count
  }

  private var packedFields: RecordFields {
    var fields = RecordFields(of: metadata, storesKeyLength: key.count > PackedRecordFormat.longestShortKey)
    if metadata.cost != PackedRecordFormat.defaultCost(ofValueSize: bytes.count) { fields.insert(.cost) }
    return fields
  }

  /// Writes the packed record and its zeros into `target`, which must have room for exactly these.
  ///
  /// - Parameters:
  ///   - partition: The number of the record's partition.
  ///   - address: The address at which the record will lie.
  ///   - target: The bytes of the record. They can have any contents before.
  @_lifetime(target: copy target)
  func pack(for partition: PartitionNumber, at address: RecordAddress, into target: inout MutableRawSpan) {
    let fields = packedFields
    let size = PackedRecordFormat.headerSize + fields.size + tagsSize + key.count + bytes.count
    precondition(target.byteCount == PackedRecordFormat.room(for: size))
    var offset = 4
    target.store(metadata.created.nanosecondsSince1970, at: &offset)
    let keySize = fields.contains(.key) ? 0 : UInt32(key.count)
    target.store(UInt32(truncatingIfNeeded: size) & 0xFF_FFFF | keySize << 24, at: &offset)
    target.store(fields.rawValue, at: &offset)
    target.store(partition.number, at: &offset)
    fields.encode(metadata, tagsSize: tagsSize, keySize: key.count, into: &target, at: &offset)
    if tagsSize > 0 {
      RecordTags.encode(metadata.tags, into: &target, at: offset)
      offset += tagsSize
    }
    target.copy(key.rawSpan, to: offset)
    offset += key.count
    target.copy(bytes.rawSpan, to: offset)
    offset += bytes.count
    while offset < target.byteCount { target.store(UInt8(0), at: &offset) }
    PackedRecordFormat.seal(&target, at: address)
  }
}
