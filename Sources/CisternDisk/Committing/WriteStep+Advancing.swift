import LMDB

extension WriteStep {
  /// Rewrites a row with the same value, so that LMDB counts the commit.
  mutating func advanceTransaction(in transaction: inout WriteTransaction) throws(LMDBError) {
    let version = file.layout.kind.formatVersion
    try transaction.put(MetaTable.value(version), forKey: MetaTable.format, in: file.meta)
    outcome.hasChanges = true
  }
}
