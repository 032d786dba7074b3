import LMDB

extension Partition {
  /// A transaction shows what is in the file as of the commit `number`: takes note of invalidations, by whomever.
  func learnInvalidations<Reading: Transaction & ~Copyable & ~Escapable>(
    in transaction: borrowing Reading, as number: UInt, of file: DiskFile
  ) throws(LMDBError) {
    let row = try transaction.eraRow(of: name, in: file.meta)
    if invalidations.isKnown(row) { return }
    let rows = try transaction.invalidationRows(of: name, endedAfter: invalidations.knownEra, in: file.meta)
    invalidations.learn(row, rows, transaction: number)
  }
}
