import CisternCore
import LMDB

extension DiskFile {
  /// Gives the metadata of a record the newest times.
  ///
  /// - Parameters:
  ///   - metadata: The metadata in the record itself.
  ///   - valueSize: The size of the record's value, in bytes.
  ///   - location: The location of the record.
  ///   - transaction: The snapshot.
  /// - Throws: `LMDBError` with the code `corrupted` if the row of the renewal is damaged.
  func renew(
    _ metadata: inout RecordMetadata, valueSize: Int, at location: @autoclosure () -> RecordLocation,
    in transaction: borrowing ReadTransaction
  ) throws(LMDBError) {
    guard valueSize >= RecordRenewal.leastValueSize else { return }
    try renewal(ofRecordAt: location(), in: transaction)?.apply(to: &metadata)
  }

  /// Returns the renewal of a large record, or nil if the record has none.
  func renewal(
    ofRecordAt location: @autoclosure () -> RecordLocation, in transaction: borrowing ReadTransaction
  ) throws(LMDBError) -> RecordRenewal? {
    guard try mayHaveRenewals(in: transaction) else { return nil }
    return try transaction.renewal(ofRecordAt: location(), in: meta)
  }

  /// Returns whether any record has a renewal in a snapshot.
  func mayHaveRenewals(in transaction: borrowing ReadTransaction) throws(LMDBError) -> Bool {
    try renewalState.mayHaveRenewals(in: transaction, of: meta)
  }
}
