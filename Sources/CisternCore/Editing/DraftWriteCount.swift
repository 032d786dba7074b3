/// The number of writes of one key in a draft. A count does not wrap around.
struct DraftWriteCount: Sendable, Comparable {
  /// The count, for the version that drafts of this draft see.
  let number: UInt64

  /// The count of a key that a new draft has not written.
  static var zero: DraftWriteCount { DraftWriteCount(number: 0) }

  /// Returns the count after the next write.
  func next() -> DraftWriteCount { DraftWriteCount(number: number + 1) }

  static func < (left: DraftWriteCount, right: DraftWriteCount) -> Bool { left.number < right.number }
}
