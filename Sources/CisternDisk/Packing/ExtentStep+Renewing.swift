import CisternCore
import LMDB

// The renewals of records: newer times beside a record that is not written again.

extension ExtentStep {
  /// Gives the key's record the times of the draft. Returns false if the two differ in more, and the draft must be put.
  mutating func renew(
    _ draft: RecordDraft, of generation: Generation, in target: inout some ExtentTarget & ~Copyable & ~Escapable
  ) throws(LMDBError) -> Bool {
    let digest = RecordDigest(of: draft.key.rawSpan)
    // A record that is written again has a newer invalidation version. The record of a renewal keeps its own.
    guard try liveCounts(generation, in: target) != nil,
      let found = try find(draft.key.rawSpan, digest, of: generation, in: &target),
      try !isConcealed(found.address, of: generation, in: target)
    else { return false }
    let renewal = try withRecord(at: found.address, in: target) { (record) -> RecordRenewal? in
      guard let header = PackedHeader(record, at: found.address) else { return nil }
      return RecordRenewal(of: header.metadata(of: record), record.extracting(header.value), as: draft)
    }
    guard let renewal = renewal ?? nil else { return false }
    try target.put(renewal, at: found.address)
    hasRenewals = true
    // A record that is written again is young. A renewal does not change the age, so the record gets a second chance.
    context.recency.mark(found.address.mark)
    touched.note(digest, of: generation)
    outcome.hasChanges = true
    return true
  }

  /// Returns the renewal of a record, or nil if it has none.
  mutating func renewal(
    of record: IndexedRecord, in target: borrowing some ExtentTarget & ~Copyable & ~Escapable
  ) throws(LMDBError) -> RecordRenewal? {
    guard record.size >= RecordRenewal.leastValueSize, try mayHaveRenewals(in: target) else { return nil }
    return try target.renewal(at: record.address)
  }

  /// Removes the renewal of a record that leaves its address, if it has one.
  ///
  /// The size of a damaged record can be zero, because it is not known.
  mutating func removeRenewal(
    of record: IndexedRecord, in target: inout some ExtentTarget & ~Copyable & ~Escapable
  ) throws(LMDBError) {
    guard record.size == 0 || record.size >= RecordRenewal.leastValueSize, try mayHaveRenewals(in: target) else {
      return
    }
    try target.put(nil, at: record.address)
  }

  /// Moves the renewal of a copied record to the record's new address, if it has one.
  mutating func moveRenewal(
    of record: IndexedRecord, to address: RecordAddress,
    in target: inout some ExtentTarget & ~Copyable & ~Escapable
  ) throws(LMDBError) {
    guard let renewal = try renewal(of: record, in: target) else { return }
    try target.put(nil, at: record.address)
    try target.put(renewal, at: address)
  }

  /// Returns whether any record of the file has a renewal. The transaction asks the file once.
  mutating func mayHaveRenewals(
    in target: borrowing some ExtentTarget & ~Copyable & ~Escapable
  ) throws(LMDBError) -> Bool {
    if let hasRenewals { return hasRenewals }
    let result = try target.hasRenewals()
    hasRenewals = result
    return result
  }
}
