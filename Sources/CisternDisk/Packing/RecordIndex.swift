import LMDB

/// The index of records in a write transaction, with a position.
///
/// The items of each generation are sorted by their digests. The position stays where it is until the index moves or
/// inserts. Changes of other tables do not affect it.
protocol RecordIndex: ~Copyable, ~Escapable {
  /// Moves to the first item of the generation whose digest is not less. Returns nil if no item follows.
  mutating func move(toFirstFrom digest: RecordDigest, of generation: Generation) throws(LMDBError) -> LocatedDigest?

  /// Moves to the next item of the generation, or after a removal, to the item that followed the removed one.
  mutating func moveToNext() throws(LMDBError) -> LocatedDigest?

  /// Replaces the address of the item at the position.
  mutating func replaceCurrent(with address: RecordAddress) throws(LMDBError)

  /// Removes the item at the position.
  mutating func removeCurrent() throws(LMDBError)

  /// Adds an item. The position is then undefined.
  mutating func insert(_ item: LocatedDigest, of generation: Generation) throws(LMDBError)
}
