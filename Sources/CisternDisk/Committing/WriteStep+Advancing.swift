import LMDB

extension WriteStep {
  /// Rewrites a row with the same value, so that LMDB counts the commit.
  mutating func advanceTransaction(in transaction: inout WriteTransaction) throws(LMDBError) {
    let version = file.layout.kind.formatVersion
    try transaction.put(MetaTable.value(version), forKey: MetaTable.format, in: file.meta)
    outcome.hasChanges = true
  }

  /// Stores a value of this many pages, and removes it again. LMDB then merges the lists of free pages that it reads
  /// for this.
  ///
  /// - Throws: `LMDBError`: `mapFull` for lack of such pages in a row.
  mutating func mergeFreeLists(
    withPages count: Int, in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    let bytes = [UInt8](repeating: 0, count: count * DiskLimits.pageSize - DiskLimits.pageSize / 2)
    try transaction.put(bytes, forKey: MetaTable.free, in: file.meta)
    _ = try transaction.remove(MetaTable.free, in: file.meta)
    try advanceTransaction(in: &transaction)
  }
}
