/// The outcome of an operation. Each outcome is a row of the report.
enum Outcome: String, Sendable, CaseIterable, Codable {
  /// The value was in memory.
  case memory
  /// The value was on disk.
  case disk
  /// The value was stale, and in its grace.
  case stale
  /// The caller waited for a fetch that another caller led.
  case joined
  /// The caller led a fetch, which returned a value.
  case fetched
  /// The caller led a fetch that did not depend on a cached value, and it returned a value.
  case refreshed
  /// The caller's wait for a fetch timed out.
  case timedOut
  /// The caller led or joined a fetch that failed.
  case failed
  /// The caller was cancelled. The time is from the cancellation to the return.
  case cancelled
  /// The look-up did not fetch, and found no value.
  case missed
  /// A load of several keys.
  case bulk
  /// A write that returned immediately.
  case written
  /// A write or removal that returned after the commit.
  case committed
  /// A removal of one key or all keys that returned immediately.
  case removed
  /// A removal by tag or prefix.
  case invalidated
  /// An update: a read, a change, and a write.
  case updated
  /// A batch of writes.
  case batched
  /// A draft was saved.
  case saved
  /// A draft could not be saved, because another writer had changed its keys.
  case conflicted
  /// An optimistic edit was confirmed.
  case edited
  /// An optimistic edit was rolled back.
  case takenBack
  /// An enumeration, or an observation of contents until the end of the initial entries.
  case listed
  /// A backup, whose copy was opened and checked.
  case copied
  /// A verification of a store in use.
  case verified

  /// The name of the outcome in the report.
  var title: String {
    switch self {
    case .memory: "memory hit"
    case .disk: "disk hit"
    case .stale: "stale hit"
    case .joined: "joined fetch"
    case .fetched: "fetched"
    case .refreshed: "refreshed"
    case .timedOut: "timed out"
    case .failed: "fetch failed"
    case .cancelled: "cancelled"
    case .missed: "absent"
    case .bulk: "bulk load"
    case .written: "written"
    case .committed: "committed"
    case .removed: "removed"
    case .invalidated: "invalidated"
    case .updated: "updated"
    case .batched: "batch"
    case .saved: "draft saved"
    case .conflicted: "draft conflict"
    case .edited: "edit confirmed"
    case .takenBack: "edit rolled back"
    case .listed: "enumeration"
    case .copied: "backup"
    case .verified: "verification"
    }
  }
}
