/// The facts that a writer learns from its transactions, and that the rows of the file do not have.
///
/// A writer keeps them if it reads the state of the file again. An aborted transaction teaches nothing.
struct WriterExperience: Sendable {
  var ceiling = GrowthCeiling()
  var secondChances = SecondChances()
  /// The number of extents that are evicted next, although others have more dead bytes. Cleaning alone has made no
  /// room.
  var forcedEvictions = 0
  /// The bytes that later evictions may copy beyond half of an extent, because earlier ones copied less.
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
