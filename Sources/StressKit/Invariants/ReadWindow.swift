/// The time of a read, and the values that it accepts. Times are in nanoseconds.
struct ReadWindow {
  /// The time of the call.
  let start: UInt64
  /// The time at which the read returned, or a time shortly before.
  let end: UInt64
  /// The time after the lifetime during which the read accepts a value.
  var staleness: UInt64 = 0
}
