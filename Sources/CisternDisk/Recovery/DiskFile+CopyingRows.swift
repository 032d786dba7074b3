import CisternCore
import LMDB

extension DiskFile {
  /// Copies the store's own rows to the table of a new file, with these counts of its records.
  ///
  /// Omits the version of the format, the rows that describe the layout or a record, and dead generations, which have
  /// no records left.
  func copyRows(
    to table: Database, of new: Environment, counts: [Generation: GenerationCounts]
  ) throws(LMDBError) {
    let rows = try readAsSource { (transaction) throws(LMDBError) in
      var rows: [(key: [UInt8], row: [UInt8])] = []
      var cursor = try transaction.cursor(in: meta)
      while try cursor.moveToNext() {
        guard let key = cursor.key, let row = cursor.value, MetaTable.deadGeneration(key) == nil,
          MetaTable.partitionNumber(key) == nil, !MetaTable.isRenewal(key)
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

  /// Copies the renewals of kept records to the table of a new file, in which the records have the same keys.
  func copyRenewals(of kept: KeptRecords, to table: Database, of new: Environment) throws(LMDBError) {
    let rows = try readAsSource { (transaction) throws(LMDBError) -> [(key: [UInt8], row: [UInt8])] in
      guard try mayHaveRenewals(in: transaction) else { return [] }
      var rows: [(key: [UInt8], row: [UInt8])] = []
      for entry in kept.entries {
        let key = [MetaTable.renewalPrefix] + kept.key(of: entry)
        if let row = try transaction.value(forKey: key.rawSpan, in: meta) { rows.append((key, row.copiedBytes())) }
      }
      return rows
    }
    if rows.isEmpty { return }
    try new.withWrite { (transaction) throws(LMDBError) in
      for (key, row) in rows { _ = try transaction.put(row.rawSpan, forKey: key.rawSpan, in: table) }
    }
  }
}
