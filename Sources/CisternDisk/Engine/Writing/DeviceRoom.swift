/// The sizes that a store uses on a device that may be smaller than the disk limit. A state machine without input or
/// output.
///
/// When the device is full, the size of the file replaces the limit, and all margins follow from it. The store tries
/// a larger size after some commit groups. The number of these groups doubles with each attempt that fails.
struct DeviceRoom {
  /// The sizes that follow from the disk limit.
  private let limit: DiskLimits
  /// The sizes that the store uses now.
  private(set) var limits: DiskLimits
  /// The number of pages in the file when the device was last full, or nil if the device has room for the limit.
  private var fullAt: Int?
  /// The number of commit groups until the next attempt, and until the one after it.
  private var groupsLeft = 0
  private var pause = DeviceRoom.shortestPause
  private var isReported = false

  static let shortestPause = 16
  static let longestPause = 4096

  init(_ limit: DiskLimits) {
    self.limit = limit
    limits = limit
  }

  /// Whether the device limits the store, rather than the disk limit.
  var isLimited: Bool { limits.pageCount < limit.pageCount }

  /// Notes that the device was full when the file had this many pages. Returns whether the sizes have changed.
  mutating func noteFull(pages: Int) -> Bool {
    // A transaction can find the device full several times. Only the first time ends an attempt.
    if groupsLeft == 0 {
      groupsLeft = pause
      pause = min(pause * 2, DeviceRoom.longestPause)
    }
    fullAt = pages
    let before = limits
    limits = limit.reduced(toPages: pages)
    return limits != before
  }

  /// Notes that the disk works again after an outage. The next group may try a larger size.
  mutating func noteRecovery() { groupsLeft = 0 }

  /// A result of the state machine.
  enum Outcome: Equatable {
    case unchanged
    /// The store tries a larger size.
    case grown
    /// The device has room for more than before. This ends a reported condition.
    case recovered
  }

  /// Notes the beginning of a commit group.
  ///
  /// - Parameters:
  ///   - pages: The number of pages in the file.
  ///   - freePages: Returns the free pages of the device, or nil if they are unknown.
  /// - Returns: The change of the sizes.
  mutating func beginGroup(pages: Int, freePages: () -> Int?) -> Outcome {
    guard let fullAt else { return .unchanged }
    if pages >= max(fullAt + 1, min(fullAt + fullAt / 8 + 8, limit.highWatermark)) {
      pause = DeviceRoom.shortestPause
      self.fullAt = isLimited ? pages : nil
      if !isLimited, isReported {
        isReported = false
        return .recovered
      }
    }
    if groupsLeft > 0 {
      groupsLeft -= 1
      return .unchanged
    }
    guard isLimited else { return .unchanged }
    let step = max(limits.pageCount / 16, 16)
    // If the free space is unknown, the store tries an eighth more.
    let possible = max(pages, fullAt) + (freePages() ?? 2 * step)
    guard possible >= min(limits.pageCount + step, limit.pageCount) else { return .unchanged }
    limits = limit.reduced(toPages: possible)
    return .grown
  }

  /// Notes that a commit group succeeded. Decides whether to report that the device limits the store.
  ///
  /// The report is sent once until the device has room again.
  mutating func noteSuccess() -> ReportDecision {
    guard isLimited, !isReported else { return .omit }
    isReported = true
    return .send
  }
}
