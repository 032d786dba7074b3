/// A database that has a set of items for each key. The items of a key are in the order of their digests.
///
/// LMDB stores one item of a key in the leaf itself, some in a page within the leaf, and many in a separate tree.
package struct IndexDatabase: Sendable, Hashable {
  /// The number that LMDB gave to the database.
  let index: UInt32
  /// The name, or nil if it is longer than eight bytes. Without it, lookups use LMDB.
  let name: ShortKey?
}
