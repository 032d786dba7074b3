import LMDB

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
