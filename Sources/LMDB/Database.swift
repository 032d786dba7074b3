import CLMDB

/// A named or unnamed database of an environment. The handle stays open as long as the environment, and is valid only
/// with it.
@usableFromInline
package protocol DatabaseHandle: Sendable {
  /// The number that LMDB gave to the database.
  var index: UInt32 { get }
}

/// A database with keys of 1 to 511 bytes, in bytewise order.
@usableFromInline
package struct Database: DatabaseHandle, Hashable {
  @usableFromInline
  package let index: UInt32

  @usableFromInline
  init(index: UInt32) {
    self.index = index
  }
}

/// A database with unsigned integer keys, in numeric order.
@usableFromInline
package struct IntegerDatabase: DatabaseHandle, Hashable {
  @usableFromInline
  package let index: UInt32

  @usableFromInline
  init(index: UInt32) {
    self.index = index
  }
}

extension DatabaseHandle where Self == IntegerDatabase {
  /// The database in which LMDB lists free pages. Its statistics count the pages of the list, not the free pages.
  package static var freeList: IntegerDatabase { IntegerDatabase(index: 0) }
}

extension DatabaseHandle where Self == Database {
  /// The unnamed database, which contains the names of the others and the entries stored without a name.
  package static var main: Database { Database(index: 1) }
}

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
