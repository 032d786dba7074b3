/// The answer that a record of the second tier gave to a read. The promotion that follows the read counts it.
@usableFromInline
enum RecordHit: Sendable, Hashable {
  /// The read does not count here.
  case uncounted
  case fresh
  case stale
}
