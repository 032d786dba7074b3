import CisternCore
import LMDB

// The renewals of records: newer times beside a record that is not written again.

extension RecordStep {
  /// Gives the key's record the times of the draft. Returns false if the two differ in more, and the draft must be put.
  mutating func renew(
    _ draft: borrowing RecordDraft, of generation: Generation, in transaction: inout WriteTransaction
  ) throws(LMDBError) -> Bool {
    let key = DiskKey(generation: generation, key: draft.key.rawSpan)
    guard let (sequence, renewal) = try renewal(of: draft, under: key, in: transaction) else { return false }
    try transaction.put(renewal, ofRecordAt: .key(key), in: meta)
    hasRenewals = true
    recency.mark(sequence)
    outcome.hasChanges = true
    outcome.touchedPages += 1
    return true
  }

  private mutating func renewal(
    of draft: borrowing RecordDraft, under key: DiskKey, in transaction: borrowing WriteTransaction
  ) throws(LMDBError) -> (SequenceNumber, RecordRenewal)? {
    guard try liveCounts(key.generation, in: transaction) != nil,
      let record = try transaction.value(forKey: key, in: tables.records),
      let header = RecordHeader(record, under: key),
      !key.isDigest || record.extracting(header.key).hasSameBytes(as: draft.key.rawSpan)
    else { return nil }
    let metadata = header.metadata(of: record)
    // A record that is written again has a newer invalidation version. The record of a renewal keeps its own.
    guard !isConcealed(metadata, draft.key, of: key.generation),
      let renewal = RecordRenewal(of: metadata, record.extracting(header.value), as: draft)
    else { return nil }
    return (header.sequence, renewal)
  }

  /// Gives the metadata of a record the newest times.
  mutating func renew(
    _ metadata: inout RecordMetadata, valueSize: Int, under key: DiskKey, in transaction: borrowing WriteTransaction
  ) throws(LMDBError) {
    guard valueSize >= RecordRenewal.leastValueSize, try mayHaveRenewals(in: transaction) else { return }
    try transaction.renewal(ofRecordAt: .key(key), in: meta)?.apply(to: &metadata)
  }

  /// Removes the renewal of a record that is replaced or removed, if it has one.
  mutating func removeRenewal(
    ofSize size: Int, under key: DiskKey, in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    guard size >= RecordRenewal.leastValueSize, try mayHaveRenewals(in: transaction) else { return }
    try transaction.put(nil, ofRecordAt: .key(key), in: meta)
  }

  /// Returns whether any record of the file has a renewal. The transaction asks the file once.
  private mutating func mayHaveRenewals(in transaction: borrowing WriteTransaction) throws(LMDBError) -> Bool {
    if let hasRenewals { return hasRenewals }
    let result = try transaction.hasRenewals(in: meta)
    hasRenewals = result
    return result
  }
}
