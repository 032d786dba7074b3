import CisternCore

/// The data of a lost record with which later clears and invalidations are compared.
///
/// If one of them concerns the record, its caller notifies the observers, and the loss is not reported.
struct LostRecord: Sendable {
  /// The clear count of the partition that the record belongs to.
  let clearCount: ClearCount
  /// The invalidation version that the record is newer than.
  let invalidationVersion: InvalidationVersion
  let tags: [String]
  var schemaVersion: UInt32 = 0
}
