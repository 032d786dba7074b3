import LMDB

extension LMDBError {
  /// The error of a walk over the records of a damaged file, whose keys or digests are not in order.
  ///
  /// LMDB's own cursor does not notice the damage. A walk that continues behind the last record would be endless.
  static func recordsOutOfOrder(_ message: String = "a record precedes those before it") -> LMDBError {
    LMDBError(.corrupted, operation: "walk over records", message: message)
  }
}
