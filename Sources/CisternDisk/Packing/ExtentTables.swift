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

/// The tables of extents, of records that are separate values, and of the rows that describe both.
protocol ExtentTables: ~Copyable, ~Escapable {
  /// Adds an extent, whose bytes are zero.
  mutating func addExtent(_ number: ExtentNumber) throws(LMDBError)

  /// Removes an extent, whose pages then serve other tables.
  mutating func removeExtent(_ number: ExtentNumber) throws(LMDBError)

  mutating func putSeparate(_ bytes: RawSpan, _ number: SeparateNumber) throws(LMDBError)

  mutating func removeSeparate(_ number: SeparateNumber) throws(LMDBError)

  /// Calls `body` with the bytes of a separate record. Returns nil if the file does not have it.
  borrowing func withBytes<Result>(
    ofSeparate number: SeparateNumber, _ body: (RawSpan) throws(LMDBError) -> Result
  ) throws(LMDBError) -> Result?

  /// Stores the row of an extent or of a separate record. Removes it if the row is nil.
  mutating func putRow(_ row: [UInt8]?, under key: ExtentRow.Key) throws(LMDBError)

  /// Makes LMDB read its lists of free pages, from the oldest one on, until they have more pages than this number.
  ///
  /// The transaction must be able to use so many free pages. Unlike ``WriteStep/mergeFreeLists(withPages:in:)``, they
  /// need not be in a row.
  mutating func readFreeLists(withPages count: Int) throws(LMDBError)

  /// Stores the row of the log.
  mutating func putLogRow(_ row: [UInt8]) throws(LMDBError)

  /// Returns the number of pages of the file as of the last commit, with the free ones. O(1).
  borrowing func committedPageCount() throws(LMDBError) -> Int

  /// The pages of the tables. O(1).
  borrowing func tablePages() throws(LMDBError) -> TablePages

  /// Returns the first page of an extent or a separate record. Nil if it is unknown, or not committed yet.
  borrowing func committedPage(of key: ExtentRow.Key) throws(LMDBError) -> Int?

  /// Returns the uses of the pages as of the last commit. Nil if they are unknown.
  borrowing func committedPageUses(of generations: [Generation]) throws(LMDBError) -> PageUses?

  /// Returns the number of pages that only the items of the generation use, as of the last commit. Nil if it is
  /// unknown.
  borrowing func committedItemPages(of generation: Generation) throws(LMDBError) -> Int?
}

/// The rows of generations, with which records and their counts are named.
protocol GenerationRows: ~Copyable, ~Escapable {
  /// Returns the counts of a live generation, or nil for a dead one.
  borrowing func counts(of generation: Generation) throws(LMDBError) -> GenerationCounts?

  mutating func putCounts(_ counts: GenerationCounts, of generation: Generation) throws(LMDBError)

  /// Stores which generation a number names.
  mutating func putPartitionNumber(_ number: PartitionNumber, of generation: Generation) throws(LMDBError)

  /// Removes the rows of a dead generation after its purge: its name, and the row that states that it is dead.
  mutating func endGeneration(_ generation: Generation, named number: PartitionNumber?) throws(LMDBError)
}

/// The rows of renewals, by the addresses of their records.
protocol RenewalRows: ~Copyable, ~Escapable {
  /// Returns whether there is any row. O(log *n*).
  borrowing func hasRenewals() throws(LMDBError) -> Bool

  borrowing func renewal(at address: RecordAddress) throws(LMDBError) -> RecordRenewal?

  /// Stores the renewal. Removes it if it is nil.
  mutating func put(_ renewal: RecordRenewal?, at address: RecordAddress) throws(LMDBError)

  /// Makes LMDB move the leaves with rows that are in a range of pages. A file can have very many rows, so the others
  /// stay.
  mutating func moveRenewals(outOf window: Range<Int>) throws(LMDBError)
}
