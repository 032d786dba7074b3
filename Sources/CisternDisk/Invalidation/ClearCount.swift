/// The number of clears of a partition in this process, modulo 2¹⁶.
///
/// The count wraps around. Staged writes and record losses of another count are void. A clear releases them, and
/// marks the writes that are being committed as void, before its count can repeat.
struct ClearCount: Sendable, Equatable {
  /// The count, for the word that a partition shows to its readers.
  let number: UInt16

  @inline(__always)
  init(number: UInt16) {
    self.number = number
  }

  /// The count before the first clear.
  static var zero: ClearCount { ClearCount(number: 0) }

  /// Returns the count after the next clear.
  func next() -> ClearCount { ClearCount(number: number &+ 1) }

  /// Returns whether this count comes after the other one. Fewer than 2¹⁵ clears must lie between them.
  @inline(__always)
  func isLater(than other: ClearCount) -> Bool { Int16(bitPattern: number &- other.number) > 0 }
}
