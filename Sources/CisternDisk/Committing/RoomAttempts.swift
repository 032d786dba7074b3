/// The attempts to make room for the next items of a commit group, since the last progress.
struct RoomAttempts {
  /// The number of times that the map or the device was full since the last committed step.
  private(set) var fullMaps = 0
  /// The number of these times at which the file had no other record.
  private var emptyFiles = 0
  /// The number of transactions since the last committed item, in a dense file.
  private(set) var emptySteps = 0
  /// The number of the last transactions that have neither put an item nor made room.
  private(set) var stalls = 0
  /// The number of times that the next item or batch has found no room in the usual way.
  private var escalations = 0

  /// Notes that the map or the device was full.
  mutating func noteFullMap() { fullMaps += 1 }

  /// Notes that the file had no other record when it was full. Returns how often that was so for the next item or
  /// batch.
  mutating func noteEmptyFile() -> Int {
    emptyFiles += 1
    return emptyFiles
  }

  /// Notes that all other records are evicted, so that the next item has an empty file.
  mutating func forgetFullMaps() {
    fullMaps = 0
    emptyFiles = 0
  }

  /// Notes a transaction on extents that has put no item.
  ///
  /// - Parameter hasMadeRoom: Whether the transaction has emptied or examined extents.
  mutating func noteEmptyStep(hasMadeRoom: Bool) {
    emptySteps += 1
    stalls = hasMadeRoom ? 0 : stalls + 1
  }

  /// Notes that the reader that kept pages from reuse has ended.
  mutating func endStall() { stalls = 0 }

  /// Notes that the next transactions make room in another way. Returns how often that was necessary for the next item
  /// or batch.
  mutating func escalate() -> Int {
    emptySteps = 0
    stalls = 0
    escalations += 1
    return escalations
  }

  /// Notes that the next item or batch is given up. The transactions until then have made no progress, so they still
  /// count.
  mutating func noteSkip() { escalations = 0 }
}
