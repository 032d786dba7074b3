/// The changes of one write transaction on extents, to apply to the state in memory after the commit.
struct ExtentOutcome {
  /// Whether the transaction changes the file. Without changes, LMDB does not use up the transaction's number.
  var hasChanges = false
  /// The live records that were evicted to make room.
  var evicted: [EvictedRecord] = []
  /// The number of removed items that led to no sound record.
  var invalidItems = 0
  /// The number of bytes of records that were copied.
  var copiedBytes = 0
  /// The extents that were released because some of their records are damaged.
  var damagedExtents: [ExtentNumber] = []
}
