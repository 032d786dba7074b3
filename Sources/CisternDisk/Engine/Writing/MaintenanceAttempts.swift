/// The attempts at maintenance that found no room in the file. This type is pure.
struct MaintenanceAttempts: Sendable {
  /// The number of attempts at transactions of some size. Each halves the next one.
  private(set) var count = 0
  /// The number of pauses for a reader since the last success.
  private var pauses = 0

  /// The number of attempts in sequence after which maintenance pauses.
  static let most = 16

  /// Notes a committed transaction. Later ones may be larger again.
  mutating func noteSuccess() {
    count = max(0, count - 1)
    pauses = 0
  }

  /// Notes an attempt without room. Returns false if there were many: maintenance must then pause.
  mutating func noteAttempt() -> Bool {
    guard count < MaintenanceAttempts.most else {
      count = 0
      return false
    }
    count += 1
    return true
  }

  /// Returns the length of a pause for a reader, in nanoseconds: one millisecond first, and twice the last one after
  /// that.
  mutating func pauseForReader(atMost longest: UInt64) -> UInt64 {
    defer { pauses = min(pauses + 1, 10) }
    return min(1_000_000 << pauses, longest)
  }
}
