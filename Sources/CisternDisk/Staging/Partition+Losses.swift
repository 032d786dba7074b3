import CisternCore

// Records that left the disk, and whose removal observers must still learn of.

extension Partition {
  /// Notes a lost record, unless the key has a newer staged write.
  ///
  /// The caller must note the loss before the commit that removes the record becomes visible. Otherwise, a caller
  /// could find the key absent before observers are notified of its removal.
  func noteLoss(_ key: [UInt8], _ record: LostRecord) {
    staging.unlessStagedAnew(key) { lostKeys.insert(key, record) }
  }

  /// Returns whether the loss of the key's record is not yet acknowledged. A later clear or invalidation that
  /// covers the record also ends this state.
  func isLost(_ key: RawSpan) -> Bool { lostRecord(ofKey: key) != nil }

  /// The record of a key that left, if its end has not been reported and it was not removed with others since.
  func lostRecord(ofKey key: RawSpan) -> LostRecord? {
    lostKeys.record(ofKey: key).flatMap { stands($0, forKey: key) ? $0 : nil }
  }

  /// Acknowledges the loss of the key's record.
  ///
  /// Returns true if the removal must still be reported: no write, clear, or invalidation has covered the key
  /// since.
  func acknowledgeLoss(of key: RawSpan) -> Bool {
    lostKeys.remove(key.copiedBytes()).map { stands($0, forKey: key) } ?? false
  }

  private func stands(_ record: LostRecord, forKey key: RawSpan) -> Bool {
    record.clearCount == clearCount && !invalidations.conceals(record, key: key)
  }
}
