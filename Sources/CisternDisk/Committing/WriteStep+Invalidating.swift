import CisternCore
import LMDB

extension WriteStep {
  /// Writes the invalidations. They get greater numbers than those that other processes have written since.
  mutating func put(
    _ invalidations: [Invalidation: InvalidationVersion], invalidationVersion: InvalidationVersion,
    of partition: Partition, in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    var row = try transaction.invalidationVersionRow(of: partition.name, in: file.meta)
    var written: [Invalidation: FileInvalidationVersion] = [:]
    for (invalidation, version) in invalidations.sorted(by: { $0.value < $1.value }) {
      let fileVersion = max(FileInvalidationVersion(sameNumberAs: version), row.invalidationVersion.next())
      row.invalidationVersion = fileVersion
      written[invalidation] = fileVersion
      try transaction.put(
        MetaTable.value(invalidation, invalidationVersion: fileVersion),
        forKey: MetaTable.invalidation(invalidation, of: partition.name), in: file.meta)
    }
    row.invalidationVersion = max(
      row.invalidationVersion, FileInvalidationVersion(sameNumberAs: invalidationVersion))
    row.changes += 1
    try transaction.put(row.value, forKey: MetaTable.invalidationVersions(partition.name), in: file.meta)
    partition.invalidations.assign(written)
    fileVersions[ObjectIdentifier(partition)] = row.invalidationVersion
    outcome.invalidations.append((partition, written, row))
    outcome.hasChanges = true
    outcome.touchedPages += 1 + invalidations.count / 4
  }

  /// Marks the invalidations as ended, unless an equal invalidation was written since. Deletes ended invalidations,
  /// except the newest `keptCount`.
  ///
  /// - Returns: The row of numbers after the change.
  mutating func end(
    _ targets: [Invalidation: FileInvalidationVersion], of partition: Partition, keeping keptCount: Int,
    in transaction: inout WriteTransaction
  ) throws(LMDBError) -> InvalidationVersionRow {
    var row = try transaction.invalidationVersionRow(of: partition.name, in: file.meta)
    for (key, invalidation, fileVersion) in try rows(of: targets, partition, in: transaction) {
      _ = try transaction.remove(key, in: file.meta)
      guard invalidation.size <= WriteStep.longestEnded else {
        row.purged = max(row.purged, fileVersion)
        continue
      }
      try transaction.put(
        MetaTable.value(invalidation, invalidationVersion: fileVersion),
        forKey: MetaTable.ended(fileVersion, of: partition.name), in: file.meta)
    }
    let oldest = row.invalidationVersion.earlier(by: keptCount)
    if oldest > row.purged {
      for key in try endedKeys(of: partition.name, upTo: oldest, in: transaction) {
        _ = try transaction.remove(key, in: file.meta)
        row.purged = oldest
      }
    }
    row.changes += 1
    try transaction.put(row.value, forKey: MetaTable.invalidationVersions(partition.name), in: file.meta)
    outcome.hasChanges = true
    return row
  }

  /// A larger invalidation is deleted when it ends.
  private static let longestEnded = 512

  private func endedKeys(
    of name: String, upTo fileVersion: FileInvalidationVersion, in transaction: borrowing WriteTransaction
  ) throws(LMDBError) -> [[UInt8]] {
    var keys: [[UInt8]] = []
    let last = MetaTable.ended(fileVersion, of: name)
    var cursor: Cursor<Database, CursorReads> = try transaction.cursor(in: file.meta)
    var isAtRow = try cursor.move(toFirstFrom: MetaTable.ended(name).rawSpan)
    while isAtRow, let key = cursor.key?.copiedBytes(), !last.rawSpan.precedes(key.rawSpan) {
      keys.append(key)
      isAtRow = try cursor.moveToNext()
    }
    return keys
  }

  /// Finds rows by their contents, not by their keys: the bytes of equal tags can differ.
  private func rows(
    of targets: [Invalidation: FileInvalidationVersion], _ partition: Partition,
    in transaction: borrowing WriteTransaction
  ) throws(LMDBError) -> [(key: [UInt8], invalidation: Invalidation, fileVersion: FileInvalidationVersion)] {
    var rows: [(key: [UInt8], invalidation: Invalidation, fileVersion: FileInvalidationVersion)] = []
    let prefix = MetaTable.invalidations(partition.name)
    var cursor: Cursor<Database, CursorReads> = try transaction.cursor(in: file.meta)
    var isAtRow = try cursor.move(toFirstFrom: prefix.rawSpan)
    while isAtRow, let key = cursor.key?.copiedBytes(), key.starts(with: prefix) {
      if let (invalidation, fileVersion) = try MetaTable.invalidation(at: cursor),
        let target = targets[invalidation], fileVersion <= target
      {
        rows.append((key, invalidation, fileVersion))
      }
      isAtRow = try cursor.moveToNext()
    }
    return rows
  }
}
