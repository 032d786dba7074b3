/// How an operation ended: the rows of the report.
enum Outcome: String, Sendable, CaseIterable, Codable {
  /// Found in memory.
  case memory
  /// Found on disk.
  case disk
  /// Waited for a fetch that another caller led.
  case joined
  /// Led a fetch, and got its value.
  case fetched
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

  /// What the outcome means, for people.
  var title: String {
    switch self {
    case .memory: "memory hit"
    case .disk: "disk hit"
    case .joined: "joined a fetch"
    case .fetched: "fetched"
    case .failed: "fetch failed"
    case .cancelled: "cancelled"
    case .missed: "absent"
    case .bulk: "bulk load"
    case .written: "written"
    case .committed: "committed"
    case .removed: "removed"
    }
  }
}
