import LMDB

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
