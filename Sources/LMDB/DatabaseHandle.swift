/// A named or unnamed database of an environment. The handle stays open as long as the environment, and is valid only
/// with it.
@usableFromInline
package protocol DatabaseHandle: Sendable {
  /// The number that LMDB gave to the database.
  var index: UInt32 { get }
}

extension DatabaseHandle where Self == IntegerDatabase {
  /// The database in which LMDB lists free pages. Its statistics count the pages of the list, not the free pages.
  package static var freeList: IntegerDatabase { IntegerDatabase(index: 0) }
}

extension DatabaseHandle where Self == Database {
  /// The unnamed database, which contains the names of the others and the entries stored without a name.
  package static var main: Database { Database(index: 1) }
}
