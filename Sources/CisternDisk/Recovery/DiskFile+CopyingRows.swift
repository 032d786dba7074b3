import CisternCore
import LMDB

extension DiskFile {
  /// Copies the store's own rows to the table of a new file, with these counts of its records.
  ///
  /// Omits the version of the format, the rows that describe the layout, and dead generations, which have no records left.
  func copyRows(
    to table: Database, of new: Environment, counts: [Generation: GenerationCounts]
  ) throws(LMDBError) {
    let rows = try environment.withRead { (transaction) throws(LMDBError) in
      var rows: [(key: [UInt8], row: [UInt8])] = []
      var cursor = try transaction.cursor(in: meta)
      while try cursor.moveToNext() {
        guard let key = cursor.key, let row = cursor.value, MetaTable.deadGeneration(key) == nil,
          MetaTable.partitionNumber(key) == nil
        else { continue }
        let bytes = key.copiedBytes()
        if bytes != MetaTable.log, bytes != MetaTable.format { rows.append((bytes, row.copiedBytes())) }
      }
      return rows
    }
    try new.withWrite { (transaction) throws(LMDBError) in
      for (key, row) in rows {
        if let generation = MetaTable.liveGeneration(key.rawSpan) {
          try transaction.put((counts[generation] ?? GenerationCounts()).value, forKey: key, in: table)
        } else {
          _ = try transaction.put(row.rawSpan, forKey: key.rawSpan, in: table)
        }
      }
    }
  }
}
