import CLMDB

/// The size of one database.
package struct DatabaseStatistics: Sendable, Equatable {
  /// The size of a page in bytes.
  package let pageSize: Int
  /// The number of pages on the path from the root to an entry.
  package let depth: Int
  /// The number of entries.
  package let entryCount: Int
  /// The number of branch pages.
  package let branchPageCount: Int
  /// The number of leaf pages.
  package let leafPageCount: Int
  /// The number of overflow pages, which hold values that are too large for a leaf.
  package let overflowPageCount: Int

  /// The number of all pages of the database.
  package var pageCount: Int { branchPageCount + leafPageCount + overflowPageCount }

  init(of index: MDB_dbi, in transaction: OpaquePointer) throws(LMDBError) {
    var statistics = MDB_stat()
    try check(unsafe mdb_stat(transaction, index, &statistics), "read a database's statistics")
    pageSize = Int(statistics.ms_psize)
    depth = Int(statistics.ms_depth)
    entryCount = statistics.ms_entries
    branchPageCount = statistics.ms_branch_pages
    leafPageCount = statistics.ms_leaf_pages
    overflowPageCount = statistics.ms_overflow_pages
  }
}
