import LMDB

extension WriteStep {
  /// Returns the number of pages in use in an ordered file: the tables, LMDB's free list, and the
  /// two meta pages.
  ///
  /// - Complexity: O(1).
  func livePages(in transaction: borrowing IndexTransaction) throws(LMDBError) -> Int {
    let (environment, tables) = (file.environment, file.orderedTables)
    return try 2 + transaction.transaction.statistics(of: tables.records).pageCount
      + transaction.transaction.statistics(of: tables.order).pageCount
      + transaction.transaction.statistics(of: file.meta).pageCount
      + transaction.transaction.statistics(of: environment.freeList).pageCount
  }
}
