import CisternCore
import LMDB

// Enumerations of records that lie under their keys. The order is that of the keys.

extension RecordWalk {
  /// Reads the next records of the range.
  mutating func read(at cursor: inout MainCursor, generation: Generation) throws(LMDBError) {
    let first = KeyPosition(bytes: range.prefix)
    let start = DiskKey.bytes(of: generation, at: range.start.map { max($0, first) } ?? first)
    let visited = range.start.map { DiskKey.bytes(of: generation, at: $0) }
    var isAtRecord = try cursor.move(toFirstFrom: start.rawSpan)
    if isAtRecord, let visited, cursor.key.hasSameBytes(as: visited.rawSpan) {
      isAtRecord = try cursor.moveToNext()
    }
    var count = 0
    var isAmongDigests = false
    chunk.reserveCapacity(min(range.limit, 1024))
    while isAtRecord {
      switch visit(cursor.value, under: cursor.key, generation: generation) {
      case .end: return try endBeforeOutdatedRecord()
      case .otherPrefix:
        // The keys with a digest follow. In a damaged file, a direct key could follow them, and the walk would be
        // endless. LMDB's own cursor does not notice it.
        guard !isAmongDigests else { throw .recordsOutOfOrder("a record follows those with digests") }
        isAmongDigests = true
        let digests = DiskKey.bytes(of: generation, at: KeyPosition(isDigest: true, bytes: []))
        isAtRecord = try cursor.move(toFirstFrom: digests.rawSpan)
      case .visited:
        count += 1
        if count >= range.limit { return try endChunk(at: Self.position(of: cursor.key)) }
        isAtRecord = try cursor.moveToNext()
      }
    }
  }

  /// The outcome of a look at one record of the file.
  private enum Visit {
    case visited
    /// The key is behind those with the prefix.
    case otherPrefix
    /// The record is not in the partition, or the snapshot is outdated.
    case end
  }

  /// Adds a record of the file to the walk, if it belongs to the range.
  @inline(__always)
  private mutating func visit(_ record: RawSpan, under bytes: RawSpan, generation: Generation) -> Visit {
    guard DiskKey.generation(of: bytes) == generation else { return .end }
    let name = bytes.extracting(DiskKey.prefixSize..<bytes.byteCount)
    if DiskKey.isDigest(bytes) {
      addUnderDigest(record, name)
    } else {
      if hasPrefix, !name.starts(with: range.prefix) { return .otherPrefix }
      let summary = RecordSummary(trusting: record)
      // The invalidations are read after the record, so that every earlier one applies to it.
      if let summary, invalidations.isVisibleWithoutComparison(at: snapshot) {
        chunk.append(key: name, summary)
        return .visited
      }
      addDetailed(record, name)
    }
    return isOutdated ? .end : .visited
  }

  @inline(never)
  private mutating func addDetailed(_ record: RawSpan, _ key: RawSpan) {
    guard let header = RecordHeader(trusting: record) else { return }
    if !range.needsDetails, let summary = header.summary(of: record),
      invalidations.isVisibleWithoutComparison(at: snapshot)
    {
      return chunk.append(key: key, summary)
    }
    add(header.metadata(of: record), key: key)
  }

  @inline(never)
  private mutating func addUnderDigest(_ record: RawSpan, _ digest: RawSpan) {
    guard let header = RecordHeader(trusting: record) else { return }
    let key = record.extracting(header.key)
    if key.starts(with: range.prefix) { add(header.metadata(of: record), key: key, digest: digest) }
  }

  /// Ends the chunk behind the record at a position.
  ///
  /// In a damaged file, that record can precede the start of the range. LMDB's own cursor does not notice it, and an
  /// enumeration would be endless.
  private mutating func endChunk(at end: KeyPosition) throws(LMDBError) {
    if let start = range.start, end <= start { throw .recordsOutOfOrder() }
    chunk.end = end
  }

  /// Ends the chunk behind its last record, if the snapshot became outdated after that record was visited.
  ///
  /// Otherwise, frequent invalidations could prevent an enumeration from ever reading a whole chunk.
  private mutating func endBeforeOutdatedRecord() throws(LMDBError) {
    guard isOutdated, chunk.count > 0 else { return }
    try endChunk(at: chunk.position(of: chunk[chunk.count - 1]))
    isOutdated = false
  }

  private static func position(of bytes: RawSpan) -> KeyPosition {
    KeyPosition(
      isDigest: DiskKey.isDigest(bytes), bytes: bytes.extracting(DiskKey.prefixSize..<bytes.byteCount).copiedBytes())
  }
}
