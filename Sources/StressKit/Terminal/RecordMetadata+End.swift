import Cistern

extension RecordMetadata {
  /// The time at which the value expires by its lifetime or by its time to idle, or nil if it never expires.
  ///
  /// An end that no time can represent counts as never.
  var end: WallTime? {
    let lastAccess = (lastUsed ?? created).nanosecondsSince1970
    guard idle > 0, let idle = Int64(exactly: idle) else { return expires }
    let (sum, overflow) = lastAccess.addingReportingOverflow(idle)
    guard !overflow else { return expires }
    let idleEnd = WallTime(nanosecondsSince1970: sum)
    return expires.map { min($0, idleEnd) } ?? idleEnd
  }
}
