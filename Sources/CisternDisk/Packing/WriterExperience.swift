/// The facts that a writer learns from its transactions, and that the rows of the file do not have.
///
/// A writer keeps them if it reads the state of the file again. An aborted transaction teaches nothing.
struct WriterExperience: Sendable {
  var ceiling = GrowthCeiling()
  var secondChances = SecondChances()
  /// The number of extents that are evicted next, although others have more dead bytes. Cleaning alone has made no
  /// room.
  var forcedEvictions = 0
  /// The number of bytes by which evictions have copied less than half of their extents.
  /// ``Reclaim/mostSavedBytes(in:)`` bounds its use, and a writer begins with that many.
  var savedBytes = Int.max
  /// The mean size of the records in the last reclaimed extent.
  var meanRecordSize = 1024
  /// The number of pages in a row that were cleared for the next large record.
  var clearedPages = 0
  /// The pages of trees that were in a window when it was cleared. Those that are still there did not move.
  var treePagesInWindow: Set<Int> = []
  /// The pages of removed extents and separate records that LMDB cannot use again yet.
  var freedPages = FreedPages()

  /// Notes the beginning of a commit group.
  mutating func noteGroup() {
    forcedEvictions = 0
    clearedPages = 0
    ceiling.noteGroup()
  }

  /// Notes the eviction of an extent, whose reclaim has ended.
  mutating func noteEviction() {
    forcedEvictions = max(forcedEvictions - 1, 0)
    secondChances.noteEviction()
  }
}

/// The number of extents above which the file does not grow, because the map or the device was full.
struct GrowthCeiling: Sendable {
  /// A ceiling, from the full map on.
  private struct Lowered {
    var extents: Int
    /// The number of extents at which the ceiling ends: twice the number when the map was full.
    let end: Int
    /// The number of commit groups since the ceiling has changed.
    var groups = 0
  }

  private var lowered: Lowered?

  /// The number of extents; `Int.max` without a ceiling.
  var extents: Int { lowered?.extents ?? .max }

  /// The number of commit groups after which the ceiling rises by an eighth.
  ///
  /// The map can be full again then. This costs a few small transactions.
  static let groupsBeforeRise = 16

  /// Sets the ceiling after the map was full.
  mutating func lower(to extents: Int) { lowered = Lowered(extents: extents, end: 2 * extents) }

  /// Removes the ceiling.
  mutating func remove() { lowered = nil }

  /// Notes the beginning of a commit group.
  mutating func noteGroup() {
    guard var ceiling = lowered else { return }
    ceiling.groups += 1
    if ceiling.groups >= Self.groupsBeforeRise {
      ceiling.groups = 0
      ceiling.extents += max(ceiling.extents / 8, 1)
    }
    lowered = ceiling.extents < ceiling.end ? ceiling : nil
  }
}

/// The number of separate records that can have a second chance before the next eviction.
///
/// Without a bound, large records that were read once would displace all records that were just written.
struct SecondChances: Sendable {
  private var count = Self.most
  private static let most = 8

  /// Returns whether a separate record that was read has a second chance, which is then used up.
  mutating func take() -> Bool {
    guard count > 0 else { return false }
    count -= 1
    return true
  }

  /// Notes the eviction of an extent or of a separate record.
  mutating func noteEviction() { count = min(count + 1, Self.most) }
}
