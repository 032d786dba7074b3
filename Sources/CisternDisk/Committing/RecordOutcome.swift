/// The changes of one write transaction to records.
struct RecordOutcome {
  var hasChanges = false
  /// The approximate number of pages that these changes copy.
  var touchedPages = 0
  /// The live records that were evicted to make room.
  var evicted: [EvictedRecord] = []
}
