import LMDB

extension WriteStep {
  /// Returns the number of pages in use in a file of records under their keys: the tables, LMDB's free list, and the
  /// two meta pages.
  ///
  /// - Complexity: O(1).
  func livePages(in transaction: borrowing IndexTransaction) throws(LMDBError) -> Int {
    let (environment, tables) = (file.environment, file.recordTables)
    return try 2 + transaction.transaction.statistics(of: tables.records).pageCount
      + transaction.transaction.statistics(of: tables.order).pageCount
      + transaction.transaction.statistics(of: file.meta).pageCount
      + transaction.transaction.statistics(of: environment.freeList).pageCount
  }
}
