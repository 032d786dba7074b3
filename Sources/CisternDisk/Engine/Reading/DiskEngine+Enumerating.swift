import CisternCore
import LMDB

extension DiskEngine {
  /// Returns the next visible records of the partition in the order of the file. One short transaction reads them.
  ///
  /// A staged write or removal of a key replaces its record.
  func records(of partition: Partition, in range: RecordRange) throws(CisternError) -> RecordChunk {
    let operation = "enumerate the cache \(partition.name)"
    for _ in 0..<DiskEngine.snapshotsRead {
      guard !isInherited, mode != .closed else { throw closedError(operation) }
      guard let file else {
        // A read-only store may have no file.
        if options.isReadOnly { return RecordChunk() }
        throw unreadableError(operation)
      }
      // Before the snapshot: a removal that leaves staging during the read may be missing in the snapshot.
      let mayMissRemovals = !partition.staging.isEmpty
      guard let walk = walk(of: partition, in: range, of: file) else { throw unreadableError(operation) }
      if walk.isOutdated { continue }
      return applyStaged(to: walk, of: partition, in: file, mayMissRemovals: mayMissRemovals)
    }
    throw unreadableError(operation)
  }

  /// The maximum number of snapshots for one chunk. A snapshot is outdated if a purge ended after it began.
  private static var snapshotsRead: Int { 8 }

  private func unreadableError(_ operation: String) -> CisternError {
    CisternError(.diskFailed, "the records on disk cannot be read", location: "\(operation), \(directory)")
  }

  /// The records that a walk found in one snapshot.
  private struct Walk {
    let range: RecordRange
    let invalidations: InvalidationTable
    let snapshot: UInt
    var chunk = RecordChunk()
    /// Whether an invalidation ended after the snapshot, so that its records cannot be compared with it.
    var isOutdated = false
  }

  /// Reads the records of the range in one snapshot. Returns nil if the file cannot be read.
  private func walk(of partition: Partition, in range: RecordRange, of file: DiskFile) -> Walk? {
    let environment = file.environment
    guard let transaction = beginRead(of: environment) else { return nil }
    let generation = generation(of: partition, in: transaction, of: file)
    var walk = Walk(range: range, invalidations: partition.invalidations, snapshot: transaction.number)
    guard generation != .zero else { return walk }
    do {
      var cursor = try transaction.cursor(in: file.recordTables.records)
      try Self.read(&walk, at: &cursor, generation: generation)
    } catch {
      noteReadFailure(error, of: environment)
      return nil
    }
    return walk
  }

  private static func read(
    _ walk: inout Walk, at cursor: inout Cursor<Database, CursorReads>, generation: Generation
  ) throws(LMDBError) {
    let range = walk.range
    let first = KeyPosition(bytes: range.prefix)
    let start = DiskKey.bytes(of: generation, at: range.start.map { max($0, first) } ?? first)
    let visited = range.start.map { DiskKey.bytes(of: generation, at: $0) }
    var isAtRecord = try cursor.move(toFirstFrom: start.rawSpan)
    if isAtRecord, let visited, cursor.key?.hasSameBytes(as: visited.rawSpan) ?? false {
      isAtRecord = try cursor.moveToNext()
    }
    var count = 0
    walk.chunk.reserveCapacity(min(range.limit, 1024))
    while isAtRecord {
      switch visit(cursor, generation: generation, walk: &walk) {
      case .end: return
      case .otherPrefix:
        // The keys with a digest follow.
        let digests = DiskKey.bytes(of: generation, at: KeyPosition(isDigest: true, bytes: []))
        isAtRecord = try cursor.move(toFirstFrom: digests.rawSpan)
      case .visited:
        count += 1
        if count >= range.limit {
          walk.chunk.end = position(at: cursor)
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
  private static func visit(
    _ cursor: borrowing Cursor<Database, CursorReads>, generation: Generation, walk: inout Walk
  ) -> Visit {
    guard let bytes = cursor.key, let record = cursor.value, DiskKey.generation(of: bytes) == generation else {
      return .end
    }
    let isDigest = DiskKey.isDigest(bytes)
    let name = bytes.extracting(DiskKey.prefixSize..<bytes.byteCount)
    if !isDigest, !name.starts(with: walk.range.prefix) { return .otherPrefix }
    append(record, name: name, isDigest: isDigest, to: &walk)
    return walk.isOutdated ? .end : .visited
  }

  private static func position(at cursor: borrowing Cursor<Database, CursorReads>) -> KeyPosition? {
    guard let bytes = cursor.key, bytes.byteCount >= DiskKey.prefixSize else { return nil }
    return KeyPosition(
      isDigest: DiskKey.isDigest(bytes), bytes: bytes.extracting(DiskKey.prefixSize..<bytes.byteCount).copiedBytes())
  }

  /// Adds a record of the file to the walk, unless an invalidation conceals it.
  private static func append(
    _ record: RawSpan, name: RawSpan, isDigest: Bool, to walk: inout Walk
  ) {
    guard let header = RecordHeader(trusting: record) else { return }
    let metadata = header.metadata(of: record)
    let key = isDigest ? record.extracting(header.key) : name
    if isDigest, !key.starts(with: walk.range.prefix) { return }
    // The invalidations are read after the record, so that every earlier one applies to it.
    if !walk.invalidations.isClear(for: walk.snapshot) {
      switch walk.invalidations.visibility(of: metadata, key: key, snapshot: walk.snapshot) {
      case .visible: break
      case .concealed: return
      case .outdated:
        walk.isOutdated = true
        return
      }
    }
    if isDigest {
      walk.chunk.append(digest: name, key: key, metadata)
    } else {
      walk.chunk.append(key: key, metadata)
    }
  }

  /// Replaces the records that have a staged write, and drops those with a staged removal.
  private func applyStaged(
    to walk: Walk, of partition: Partition, in file: DiskFile, mayMissRemovals: Bool
  ) -> RecordChunk {
    var chunk = walk.chunk
    guard mayMissRemovals || !partition.staging.isEmpty else { return chunk }
    // All keys are compared before the first look-up in the file, which may come after a commit.
    let staged = chunk.records.map { record in chunk.withKey(of: record) { partition.stagedEntry(forKey: $0) } }
    // A removal that was staged before the snapshot is still staged, unless a commit followed.
    let newest = max(
      file.knownTransaction.load(ordering: .acquiring), partition.knownTransaction.load(ordering: .acquiring))
    let mayBeRemoved = mayMissRemovals && newest > walk.snapshot
    var entries = staged.makeIterator()
    chunk.compactMap { key, record in
      let entry = entries.next() ?? nil
      guard let entry, entry.condition == nil else {
        // A conditional write can give the record other tags and times.
        if entry != nil { return metadata(of: key, in: partition) }
        guard mayBeRemoved else { return record }
        return presence(of: key, in: partition) == false ? nil : record
      }
      guard case .record(_, let metadata, _) = entry.write, partition.shows(entry) else { return nil }
      return metadata
    }
    return chunk
  }

  /// Returns the metadata of the key's record, or nil if a read finds none.
  func metadata(of key: RawSpan, in partition: Partition) -> RecordMetadata? {
    if isInherited { return nil }
    if let entry = partition.stagedEntry(forKey: key), entry.condition == nil {
      guard case .record(_, let metadata, _) = entry.write, partition.shows(entry) else { return nil }
      return metadata
    }
    return withRecord(forKey: key, in: partition) { metadata, _ in metadata }
  }
}
