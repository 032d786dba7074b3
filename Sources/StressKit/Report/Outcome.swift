/// How an operation ended: the rows of the report.
enum Outcome: String, Sendable, CaseIterable, Codable {
  /// Found in memory.
  case memory
  /// Found on disk.
  case disk
  /// Returned past its lifetime, and in grace.
  case stale
  /// Waited for a fetch that another caller led.
  case joined
  /// Led a fetch, and got its value.
  case fetched
  /// Led a fetch that was asked for whatever was cached, and got its value.
  case refreshed
  /// Stopped waiting for a fetch.
  case timedOut
  /// Led or joined a fetch that failed.
  case failed
  /// Was cancelled; timed from the cancellation to the return.
  case cancelled
  /// Looked up without fetching, and found nothing.
  case missed
  /// Many keys at once.
  case bulk
  /// Wrote, and returned at once.
  case written
  /// Wrote or removed, and returned after the commit.
  case committed
  /// Removed, one key or all, and returned at once.
  case removed
  /// Removed by tag or prefix.
  case invalidated
  /// Read, changed and wrote.
  case updated
  /// Wrote several keys as one.
  case batched
  /// Saved a draft.
  case saved
  /// Could not save a draft, because somebody else had changed what it wrote.
  case conflicted
  /// Showed an edit, which was confirmed.
  case edited
  /// Showed an edit, which was not confirmed.
  case takenBack

  /// What the outcome means, for people.
  var title: String {
    switch self {
    case .memory: "memory hit"
    case .disk: "disk hit"
    case .stale: "stale hit"
    case .joined: "joined a fetch"
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
    case .conflicted: "draft in conflict"
    case .edited: "edit confirmed"
    case .takenBack: "edit taken back"
    }
  }
}
