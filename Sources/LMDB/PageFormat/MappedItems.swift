/// The items with one digest in the mapped pages, in their order.
@unsafe
struct MappedItems {
  /// The items after those of the current page.
  @unsafe
  enum Rest {
    /// No item with the digest follows.
    case none
    /// Items with the digest can follow in the first leaf of this subtree.
    case page(UInt64, of: MappedPages, lastPage: UInt64)
    /// LMDB must tell which items follow.
    case unknown
  }

  enum Step: Equatable {
    case address(UInt64)
    case end
    /// The pages give no answer, so the caller must use LMDB for all items after those that it has.
    case unknown
  }

  private let digest: UInt64
  /// The next item of the page, and the number of items from there to the end of the page.
  private var next: UnsafeRawPointer?
  private var count: Int
  private var rest: Rest

  /// Creates a result without items in a page.
  init(rest: Rest) {
    unsafe digest = 0
    unsafe count = 0
    unsafe next = nil
    unsafe self.rest = unsafe rest
  }

  /// Creates the result of a search among the items of a page. All of them are mapped.
  @inline(__always)
  init(_ sought: SoughtDigest, at items: UnsafeRawPointer, count: Int, rest: Rest) {
    let first =
      sought.firstIndex(in: 0..<count, near: sought.guess(in: count)) {
        unsafe (items + $0 &* IndexItem.size).digest(at: 0)
      } ?? 0
    unsafe digest = sought.digest
    unsafe next = unsafe items + first &* IndexItem.size
    unsafe self.count = count &- first
    unsafe self.rest = unsafe rest
  }

  /// Returns the address of the next item with the digest.
  mutating func step() -> Step {
    if unsafe count == 0 {
      switch unsafe rest {
      case .none: return .end
      case .unknown: return .unknown
      case .page(let number, let pages, let lastPage):
        // The items of one digest rarely extend into a third page.
        unsafe rest = .unknown
        guard let (items, count) = unsafe pages.firstItems(below: number, lastPage: lastPage) else { return .unknown }
        unsafe (next, self.count) = unsafe (items, count)
      }
    }
    // `count` is not zero, so there is an item.
    guard let item = unsafe next, unsafe item.digest(at: 0) == digest else {
      unsafe count = 0
      unsafe rest = .none
      return .end
    }
    unsafe next = unsafe item + IndexItem.size
    unsafe count &-= 1
    return .address(unsafe item.word64(at: 4).bigEndian & IndexItem.greatestDigest)
  }
}

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

extension UnsafeRawPointer {
  /// Returns the digest of an item. The caller ensures that the whole item is within the page.
  @inline(__always)
  func digest(at offset: Int) -> UInt64 { unsafe word64(at: offset).bigEndian >> 16 }
}
