import CisternCore
import LMDB

// The newer times of records, which rows of the store's own table hold.

extension DiskVerification {
  /// Reads all renewals. The records that follow are compared with them.
  mutating func readRenewals(in transaction: borrowing ReadTransaction) throws(LMDBError) {
    guard try file.mayHaveRenewals(in: transaction) else { return }
    for row in try transaction.renewalRows(in: file.meta) {
      try step()
      renewals[row.key] = try row.renewal()
    }
  }

  /// Notes the record at a location. The metadata is nil if the record is damaged: its renewal is then no further
  /// defect.
  mutating func note(_ metadata: @autoclosure () -> RecordMetadata?, at location: @autoclosure () -> RecordLocation) {
    if renewals.isEmpty { return }
    let key = MetaTable.renewal(ofRecordAt: location())
    if let renewal = renewals[key], metadata().map(renewal.concerns) ?? true { renewals[key] = nil }
  }

  /// Finds the renewals without a record.
  mutating func findStrayRenewals() {
    if renewals.isEmpty { return }
    result.add(
      .init(.strayRecord, description: "the file has newer times of \(renewals.count) records that it does not have"))
  }
}
