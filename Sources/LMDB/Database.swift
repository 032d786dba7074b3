import CLMDB

/// A table of an environment, opened once for the environment's life. Use it with that environment only.
@usableFromInline
package protocol DatabaseHandle: Sendable {
  /// LMDB's number of the table.
  var index: UInt32 { get }
}

/// A table whose keys are bytes, 1 to 511 of them, in the order of their bytes.
@usableFromInline
package struct Database: DatabaseHandle, Hashable {
  @usableFromInline
  package let index: UInt32

  @usableFromInline
  init(index: UInt32) {
    self.index = index
  }
}

/// A table whose keys are numbers, in their order.
@usableFromInline
package struct IntegerDatabase: DatabaseHandle, Hashable {
  @usableFromInline
  package let index: UInt32

  @usableFromInline
  init(index: UInt32) {
    self.index = index
  }
}

/// Sizes of one table.
package struct DatabaseStatistics: Sendable, Equatable {
  /// Bytes of a page.
  package let pageSize: Int
  /// Pages from the root to an entry.
  package let depth: Int
  /// Entries.
  package let entryCount: Int
  /// Pages that lead to others.
  package let branchPageCount: Int
  /// Pages of entries.
  package let leafPageCount: Int
  /// Pages of values that no leaf holds.
  package let overflowPageCount: Int

  /// All pages of the table.
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
