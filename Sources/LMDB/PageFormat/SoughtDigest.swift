/// A digest to search for, between two others. Digests are distributed evenly, which tells where the search begins.
struct SoughtDigest {
  let digest: UInt64
  /// The bounds of the digests in the current subtree. Either can be equal to a digest there, or to the sought one.
  var low: UInt64 = 0
  var high = IndexItem.greatestDigest

  @inline(__always)
  init(_ digest: UInt64) { self.digest = digest }

  /// Returns the expected index of the digest among so many entries. The index can be equal to their number.
  @inline(__always)
  func guess(in count: Int) -> Int {
    guard digest > low else { return 0 }
    guard digest < high else { return count }
    // No overflow: a digest has 48 bits, and a page has fewer than 2^16 entries.
    return Int(truncatingIfNeeded: (digest &- low) &* UInt64(truncatingIfNeeded: count) / (high &- low))
  }

  /// Returns the first index of a range whose digest is not less than the sought one, or the end of the range.
  ///
  /// The search begins at the guess and continues in growing steps. If these leave the range, it halves the range. It
  /// examines at most about twice as many entries as halving alone.
  ///
  /// - Parameters:
  ///   - range: The range.
  ///   - guess: The index at which the search begins.
  ///   - digestAt: Returns the digest at an index, or nil to end the search without a result.
  /// - Returns: The index; nil if `digestAt` ended the search.
  @inline(__always)
  func firstIndex(in range: Range<Int>, near guess: Int, _ digestAt: (Int) -> UInt64?) -> Int? {
    var (low, high) = (range.lowerBound, range.upperBound)
    var middle = min(max(guess, low), high &- 1)
    var step = 1
    while low < high {
      if middle < low || middle >= high { middle = (low &+ high) >> 1 }
      guard let found = digestAt(middle) else { return nil }
      if found < digest {
        low = middle &+ 1
        middle = middle &+ step
      } else {
        high = middle
        middle = middle &- step
      }
      step &*= 2
    }
    return low
  }
}
