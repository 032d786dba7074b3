/// The result of examining the oldest record for eviction.
enum OldestRecordEviction {
  /// The record was evicted. The file has about this many more free bytes.
  case evicted(bytes: Int)
  /// The record has a second chance: it was used since it took its place in the order, or the transaction protects
  /// it.
  case secondChance
  /// No record is left.
  case noRecord
}
