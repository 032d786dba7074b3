/// The records of an extent, as far as the writer needs to know them.
struct Extent: Sendable, Equatable {
  /// The records that an open extent receives.
  enum Stream: UInt8, Sendable, CaseIterable {
    /// New records.
    case writes
    /// Records that were copied from a reclaimed extent.
    case copies
  }

  enum State: Sendable, Equatable {
    /// Has no live record. Transactions before `emptiedBy` may still read its older records. Zero if it never had a record, so that no
    /// reader keeps it from being written.
    case free(emptiedBy: TransactionNumber)
    /// Receives records at its end.
    case open(Stream)
    /// Receives no records until it is free again.
    case closed
  }

  var state: State
  /// The place in the order of eviction. Meaningless while the extent is free.
  var age = ExtentAge.zero
  /// The end of the last record, as an offset from the first page.
  var end = ExtentLayout.headerSize
  /// The number of bytes of records that the index refers to.
  ///
  /// The number is exact while one process writes. After a crash it can be too large or too small, because rows are
  /// not written in each commit. The examination of the records corrects it.
  var liveBytes = 0

  /// The number of bytes of records that the index no longer refers to.
  var deadBytes: Int { end - ExtentLayout.headerSize - liveBytes }

  var isFree: Bool { if case .free = state { true } else { false } }

  /// Whether the extent can be reclaimed.
  var isClosed: Bool { state == .closed }
}
