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
      if let start = range.start, !file.layout.hasPosition(start) {
        throw CisternError(
          .invalidArgument,
          "the cursor has no place in the data file, which was perhaps converted to another layout since; begin without a cursor",
          location: operation)
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

  /// Reads the records of the range in one snapshot. Returns nil if the file cannot be read.
  private func walk(of partition: Partition, in range: RecordRange, of file: DiskFile) -> RecordWalk? {
    let environment = file.environment
    guard let transaction = beginRead(of: environment) else { return nil }
    let generation = generation(of: partition, in: transaction, of: file)
    var walk = RecordWalk(range: range, of: partition, snapshot: transaction.transactionNumber)
    guard generation != .zero else {
      if partition.isLearned { return walk }
      return nil
    }
    do {
      switch file.layout {
      case .ordered:
        var cursor = transaction.mainCursor()
        try walk.read(at: &cursor, generation: generation)
        try walk.renew(of: file, generation: generation, in: transaction)
      case .dense(let tables): try walk.read(tables, of: file, generation: generation, in: transaction)
      }
    } catch {
      noteReadFailure(error, of: environment)
      return nil
    }
    return walk
  }

  /// Replaces the records that have a staged write, and drops those with a staged removal.
  private func applyStaged(
    to walk: consuming RecordWalk, of partition: Partition, in file: DiskFile, mayMissRemovals: Bool
  ) -> RecordChunk {
    let snapshot = walk.snapshot
    var chunk = walk.chunk
    guard mayMissRemovals || !partition.staging.isEmpty else { return chunk }
    // All keys are compared before the first look-up in the file, which may come after a commit.
    let staged = chunk.records.map { record in chunk.withKey(of: record) { partition.stagedEntry(forKey: $0) } }
    // A write that was staged before the snapshot is still staged, unless a commit followed.
    let newest = max(
      file.knownTransaction.load(ordering: .acquiring), partition.knownTransaction.load(ordering: .acquiring))
    let mayBeOutdated = mayMissRemovals && newest > snapshot
    var entries = staged.makeIterator()
    chunk.compactMap { key, record in
      let entry = entries.next() ?? nil
      guard let entry, entry.condition == nil else {
        // A conditional write can give the record other tags and times.
        guard mayBeOutdated || entry != nil else { return record }
        if let newest = metadata(of: key, in: partition) { return newest }
        // If the file cannot be read, the record of the snapshot is the newest that is known.
        return presence(of: key, in: partition) == false ? nil : record
      }
      guard case .record(_, let staged, _) = entry.write else { return nil }
      // Another process may have written the record after its invalidation.
      return partition.shows(entry) ? staged : metadata(of: key, in: partition)
    }
    return chunk
  }
}
