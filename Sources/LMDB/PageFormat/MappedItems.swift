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

extension UnsafeRawPointer {
  /// Returns the digest of an item. The caller ensures that the whole item is within the page.
  @inline(__always)
  func digest(at offset: Int) -> UInt64 { unsafe word64(at: offset).bigEndian >> 16 }
}
