import CisternCore
import LMDB

extension WriteStep {
  /// Writes the invalidations. They get greater numbers than those that other processes have written since.
  mutating func put(
    _ invalidations: [Invalidation: UInt64], era: UInt64, of partition: Partition,
    in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    var row = try transaction.eraRow(of: partition.name, in: file.meta)
    var written: [Invalidation: UInt64] = [:]
    for (invalidation, era) in invalidations.sorted(by: { $0.value < $1.value }) {
      row.era = max(era, row.era + 1)
      written[invalidation] = row.era
      try transaction.put(
        MetaTable.value(invalidation, era: row.era),
        forKey: MetaTable.invalidation(invalidation, of: partition.name), in: file.meta)
    }
    row.era = max(row.era, era)
    row.changes += 1
    try transaction.put(row.value, forKey: MetaTable.eras(partition.name), in: file.meta)
    partition.invalidations.assign(written)
    fileEras[ObjectIdentifier(partition)] = row.era
    outcome.invalidations.append((partition, written, row))
    outcome.hasChanges = true
    outcome.touchedPages += 1 + invalidations.count / 4
  }

  /// Marks the invalidations as ended, unless an equal invalidation was written since. Deletes ended invalidations, except
  /// the newest `keptCount`.
  ///
  /// - Returns: The row of numbers after the change.
  mutating func end(
    _ targets: [Invalidation: UInt64], of partition: Partition, keeping keptCount: Int,
    in transaction: inout WriteTransaction
  ) throws(LMDBError) -> EraRow {
    var row = try transaction.eraRow(of: partition.name, in: file.meta)
    for (key, invalidation, era) in try rows(of: targets, partition, in: transaction) {
      _ = try transaction.remove(key, in: file.meta)
      guard invalidation.size <= WriteStep.longestEnded else {
        row.purged = max(row.purged, era)
        continue
      }
      try transaction.put(
        MetaTable.value(invalidation, era: era), forKey: MetaTable.ended(era, of: partition.name), in: file.meta)
    }
    let oldest = row.era > UInt64(keptCount) ? row.era - UInt64(keptCount) : 0
    if oldest > row.purged {
      for key in try endedKeys(of: partition.name, upTo: oldest, in: transaction) {
        _ = try transaction.remove(key, in: file.meta)
        row.purged = oldest
      }
    }
    row.changes += 1
    try transaction.put(row.value, forKey: MetaTable.eras(partition.name), in: file.meta)
    outcome.hasChanges = true
    return row
  }

  /// A larger invalidation is deleted when it ends.
  private static let longestEnded = 512

  private func endedKeys(
    of name: String, upTo era: UInt64, in transaction: borrowing WriteTransaction
  ) throws(LMDBError) -> [[UInt8]] {
    var keys: [[UInt8]] = []
    let last = MetaTable.ended(era, of: name)
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
    of targets: [Invalidation: UInt64], _ partition: Partition, in transaction: borrowing WriteTransaction
  ) throws(LMDBError) -> [(key: [UInt8], invalidation: Invalidation, era: UInt64)] {
    var rows: [(key: [UInt8], invalidation: Invalidation, era: UInt64)] = []
    let prefix = MetaTable.invalidations(partition.name)
    var cursor: Cursor<Database, CursorReads> = try transaction.cursor(in: file.meta)
    var isAtRow = try cursor.move(toFirstFrom: prefix.rawSpan)
    while isAtRow, let key = cursor.key?.copiedBytes(), key.starts(with: prefix) {
      if let (invalidation, era) = try MetaTable.invalidation(at: cursor), let target = targets[invalidation],
        era <= target
      {
        rows.append((key, invalidation, era))
      }
      isAtRow = try cursor.moveToNext()
    }
    return rows
  }
}
