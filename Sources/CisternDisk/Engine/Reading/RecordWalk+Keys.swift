import CisternCore
import LMDB

// Enumerations of records that lie under their keys. The order is that of the keys.

extension RecordWalk {
  /// Reads the next records of the range.
  mutating func read(
    at cursor: inout Cursor<Database, CursorReads>, generation: Generation
  ) throws(LMDBError) {
    let first = KeyPosition(bytes: range.prefix)
    let start = DiskKey.bytes(of: generation, at: range.start.map { max($0, first) } ?? first)
    let visited = range.start.map { DiskKey.bytes(of: generation, at: $0) }
    var isAtRecord = try cursor.move(toFirstFrom: start.rawSpan)
    if isAtRecord, let visited, cursor.key?.hasSameBytes(as: visited.rawSpan) ?? false {
      isAtRecord = try cursor.moveToNext()
    }
    var count = 0
    chunk.reserveCapacity(min(range.limit, 1024))
    while isAtRecord {
      switch visit(cursor, generation: generation) {
      case .end: return
      case .otherPrefix:
        // The keys with a digest follow.
        let digests = DiskKey.bytes(of: generation, at: KeyPosition(isDigest: true, bytes: []))
        isAtRecord = try cursor.move(toFirstFrom: digests.rawSpan)
      case .visited:
        count += 1
        if count >= range.limit {
          chunk.end = Self.position(at: cursor)
          return
        }
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

  /// Adds the record at the cursor to the walk, if it belongs to the range.
  private mutating func visit(_ cursor: borrowing Cursor<Database, CursorReads>, generation: Generation) -> Visit {
    guard let bytes = cursor.key, let record = cursor.value, DiskKey.generation(of: bytes) == generation else {
      return .end
    }
    let isDigest = DiskKey.isDigest(bytes)
    let name = bytes.extracting(DiskKey.prefixSize..<bytes.byteCount)
    if !isDigest, !name.starts(with: range.prefix) { return .otherPrefix }
    add(record, name: name, isDigest: isDigest)
    return isOutdated ? .end : .visited
  }

  private static func position(at cursor: borrowing Cursor<Database, CursorReads>) -> KeyPosition? {
    guard let bytes = cursor.key, bytes.byteCount >= DiskKey.prefixSize else { return nil }
    return KeyPosition(
      isDigest: DiskKey.isDigest(bytes), bytes: bytes.extracting(DiskKey.prefixSize..<bytes.byteCount).copiedBytes())
  }

  private mutating func add(_ record: RawSpan, name: RawSpan, isDigest: Bool) {
    guard let header = RecordHeader(trusting: record) else { return }
    let metadata = header.metadata(of: record)
    guard isDigest else { return add(metadata, key: name) }
    let key = record.extracting(header.key)
    if key.starts(with: range.prefix) { add(metadata, key: key, digest: name) }
  }
}
