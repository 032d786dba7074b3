import CisternCore
import LMDB

extension RecordWalk {
  /// Gives the records of the chunk the newest times. The file must have its records under their keys.
  ///
  /// The rows of renewals are in the order of the records. Only those from the first to the last record are read.
  mutating func renew(
    of file: DiskFile, generation: Generation, in transaction: borrowing ReadTransaction
  ) throws(LMDBError) {
    guard chunk.count > 0, try file.mayHaveRenewals(in: transaction) else { return }
    let first = chunk.position(of: chunk[0])
    let last = chunk.position(of: chunk[chunk.count - 1])
    let start = [MetaTable.renewalPrefix] + DiskKey.bytes(of: generation, at: first)
    let end = [MetaTable.renewalPrefix] + DiskKey.bytes(of: generation, at: last)
    var renewals: [[UInt8]: RecordRenewal] = [:]
    for row in try transaction.renewalRows(from: start, through: end, in: file.meta) {
      renewals[row.location] = try row.renewal()
    }
    if renewals.isEmpty { return }
    chunk.compactMap { key, metadata in
      var metadata = metadata
      renewals[DiskKey(generation: generation, key: key).copiedBytes()]?.apply(to: &metadata)
      return metadata
    }
  }
}
