import CisternCore
import LMDB

extension Partition {
  /// Updates the partition's invalidations from a transaction that shows the file as of the commit `number`.
  ///
  /// The file can contain invalidations that other processes committed.
  func learnInvalidations<Reading: Transaction & ~Copyable & ~Escapable>(
    in transaction: borrowing Reading, as number: TransactionNumber, of file: DiskFile
  ) throws(LMDBError) {
    let row = try transaction.invalidationVersionRow(of: name, in: file.meta)
    if invalidations.isKnown(row) { return }
    let rows = try transaction.invalidationRows(of: name, endedAfter: invalidations.knownVersion, in: file.meta)
    invalidations.learn(row, rows, transaction: number)
  }

  /// Returns whether the file has all commits that the partition knows. Another file, or an older copy, does not.
  func isContinued(by file: DiskFile) throws(LMDBError) -> Bool {
    let known = knownTransaction.load(ordering: .acquiring)
    return try file.environment.withRead { (transaction) throws(LMDBError) -> Bool in
      let row = try transaction.invalidationVersionRow(of: name, in: file.meta)
      let number = transaction.transactionNumber
      return number >= known && invalidations.isContinued(by: row, transaction: number)
    }
  }
}
