/// The state of an extent: its use, its age, and the size of its records.
struct Extent: Sendable, Equatable {
  /// The kind of records that an open extent receives.
  enum Stream: UInt8, Sendable, CaseIterable {
    /// New records.
    case writes
    /// Records that were copied from a reclaimed extent.
    case copies
  }

  enum State: Sendable, Equatable {
    /// The extent has no live record. Transactions before `emptiedBy` may still read its former records. The number is
    /// zero for an extent that never had a record.
    case free(emptiedBy: TransactionNumber)
    /// The extent receives records at its end.
    case open(Stream)
    /// The extent receives no records until it is free again.
    case closed
  }

  var state: State
  /// The place in the order of eviction. Meaningless while the extent is free.
  var age = ExtentAge.zero
  /// The end of the last record, as an offset from the first page.
  var end = ExtentLayout.headerSize
  /// The number of bytes of records that the index refers to.
  ///
  /// The number is too large while another process has removals that its rows do not state yet. After a crash it can
  /// also be too small, because rows are not written in each commit. The examination of the records corrects it.
  var liveBytes = 0

  /// The number of bytes of records that the index no longer refers to.
  var deadBytes: Int { end - ExtentLayout.headerSize - liveBytes }

  var isFree: Bool { if case .free = state { true } else { false } }

  /// Whether the extent can be reclaimed.
  var isClosed: Bool { state == .closed }
}
