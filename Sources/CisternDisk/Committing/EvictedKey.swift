/// A key that a transaction removes from the file without a request for its removal.
struct EvictedKey {
  let partition: Partition
  let key: [UInt8]
  let record: LostRecord

  /// Marks the key as lost. Call this method before the transaction is committed.
  ///
  /// Otherwise a reader could miss the record before its loss is reported.
  func markLost() { partition.noteLoss(key, record) }

  /// Removes the mark, because the transaction was not committed.
  func unmarkLost() { partition.lostKeys.remove(key) }
}
