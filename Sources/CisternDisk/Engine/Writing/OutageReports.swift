/// The reports of an outage. A full device that takes no record alternates between working and failing, and must not
/// fill the log with reports.
struct OutageReports {
  private var isReported = false
  /// Whether the device was full again before it took a record.
  private var isRelapse = false
  private var hasStored = true

  /// Notes that the disk failed. Returns whether to report it.
  mutating func noteFailure(isFull: Bool) -> Bool {
    guard !isReported else { return false }
    isReported = true
    isRelapse = isFull && !hasStored
    return true
  }

  /// Notes that the disk works again. Returns whether to report it.
  mutating func noteRecovery() -> Bool {
    guard isReported, !isRelapse else { return false }
    isReported = false
    hasStored = false
    return true
  }

  /// Notes a committed record. Returns whether to report the recovery.
  mutating func noteRecord() -> Bool {
    hasStored = true
    guard isRelapse else { return false }
    isRelapse = false
    isReported = false
    return true
  }
}
