import CisternCore
import LMDB

// The removal of the record of one key.

extension ExtentStep {
  /// Removes the key's record, if the file has one.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - generation: The generation of its partition.
  ///   - target: The transaction.
  /// - Returns: The removal; nil if the key has no record.
  /// - Throws: `LMDBError` if LMDB fails.
  mutating func remove(
    _ key: [UInt8], of generation: Generation, in target: inout some ExtentTarget & ~Copyable & ~Escapable
  ) throws(LMDBError) -> RecordRemoval? {
    switch try seek(key, of: generation, in: &target) {
    case .record(let found, let digest):
      try drop(found, digest, of: generation, in: &target)
      return .sound
    case .removed: return .damaged
    case nil: return nil
    }
  }

  /// Removes the key's record if it is damaged. Returns nil if the key has no damaged record.
  mutating func removeDamaged(
    _ key: [UInt8], of generation: Generation, in target: inout some ExtentTarget & ~Copyable & ~Escapable
  ) throws(LMDBError) -> RemovedDamage? {
    switch try seek(key, of: generation, in: &target) {
    case .record(let found, let digest):
      let isSound =
        try withRecord(at: found.address, in: target) { PackedHeader($0, at: found.address) != nil } ?? false
      if isSound { return nil }
      let isConcealed = try isConcealed(found.address, of: generation, in: target)
      try drop(found, digest, of: generation, in: &target)
      return isConcealed ? .concealed : .visible
    case .removed: return .visible
    case nil: return nil
    }
  }

  /// The result of the search for a record that is about to be removed.
  private enum Sought {
    /// A record of the key. The index is at its item.
    case record(IndexedRecord, RecordDigest)
    /// Only items of damaged records, which the search has removed.
    case removed
  }

  /// Seeks the key's record. Returns nil if the key has none.
  private mutating func seek(
    _ key: [UInt8], of generation: Generation, in target: inout some ExtentTarget & ~Copyable & ~Escapable
  ) throws(LMDBError) -> Sought? {
    _ = try liveCounts(generation, in: target)
    let digest = RecordDigest(of: key.rawSpan)
    let invalidItems = outcome.invalidItems
    if let found = try find(key.rawSpan, digest, of: generation, in: &target) { return .record(found, digest) }
    return outcome.invalidItems > invalidItems ? .removed : nil
  }
}
