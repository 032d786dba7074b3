import LMDB

/// The bytes of a data file's extents, as far as a write transaction needs them.
///
/// Offsets count from the first page of an extent, like those of addresses.
protocol ExtentValues: ~Copyable, ~Escapable {
  /// Writes bytes into an extent.
  ///
  /// If an earlier transaction has added the extent, the write changes the file at once, and an abort does not undo it.
  /// If it fails, any part of the bytes can be in the file, and the transaction must abort.
  mutating func write(_ bytes: RawSpan, at offset: Int, in extent: ExtentNumber) throws(LMDBError)

  /// Calls `body` with the bytes of an extent from the offset to its end. Returns nil if the file does not have the
  /// extent.
  borrowing func withBytes<Result>(
    of extent: ExtentNumber, from offset: Int, _ body: (RawSpan) throws(LMDBError) -> Result
  ) throws(LMDBError) -> Result?
}
