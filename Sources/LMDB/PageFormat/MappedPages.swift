import CSupport

/// Looks up keys directly in the mapped pages, with the same result as LMDB.
///
/// A lookup is faster than LMDB's because it calls no comparison function, sets up no cursor, and prefetches the
/// memory that it may read next.
///
/// The lookup trusts no page. It checks each page number and offset against its bounds, and leaves unexpected content
/// to LMDB.
@unsafe
struct MappedPages {
  /// The address of page 0. All pages up to the last one of a snapshot are mapped.
  let start: UnsafeRawPointer
  /// The base-2 logarithm of the page size.
  let shift: UInt64

  /// The highest number of nodes in a leaf for which all of them are prefetched at once. In a fuller leaf, adjacent
  /// nodes share cache lines.
  private static let fewNodes = 40

  @inline(__always)
  init(start: UnsafeRawPointer, shift: UInt64) {
    unsafe self.start = unsafe start
    unsafe self.shift = shift
  }

  @inline(__always)
  var size: Int { unsafe 1 &<< Int(truncatingIfNeeded: shift) }

  @inline(__always)
  func page(_ number: UInt64) -> UnsafeRawPointer {
    unsafe start + Int(truncatingIfNeeded: number &<< shift)
  }

  /// Returns a page and the number of its nodes or items, or nil if its number is out of bounds or its header invalid.
  ///
  /// The page has at least one. The places of all nodes are within the page, and so are two more bytes.
  @inline(__always)
  func checkedPage(_ number: UInt64, lastPage: UInt64) -> (page: UnsafeRawPointer, count: Int)? {
    guard number > 1, number <= lastPage else { return nil }
    let page = unsafe page(number)
    let lower = Int(unsafe page.word16(at: TreePage.lowerPlace))
    guard unsafe page.word64(at: 0) == number, lower >= TreePage.headerSize + 2, unsafe lower <= size - 2 else {
      return nil
    }
    return unsafe (page, (lower - TreePage.headerSize) >> 1)
  }

  @inline(__always)
  func look(for key: UnsafeRawBufferPointer, snapshot: UInt64) -> PageMap.Answer {
    guard let key = unsafe SoughtKey(key), let (root, lastPage) = unsafe tree(of: snapshot) else {
      return unsafe .unknown
    }
    var number = root
    for _ in 0..<TreeRecord.greatestDepth {
      guard let (page, count) = unsafe checkedPage(number, lastPage: lastPage) else { return unsafe .unknown }
      switch unsafe page.word16(at: TreePage.kindPlace) {
      case TreePage.Kind.branch.rawValue:
        guard let child = unsafe child(for: key, of: page, count: count) else { return unsafe .unknown }
        number = child
      case TreePage.Kind.leaf.rawValue:
        return unsafe answer(for: key, of: page, count: count, lastPage: lastPage)
      default: return unsafe .unknown
      }
    }
    return unsafe .unknown
  }

  /// Returns the root of the unnamed database and the last page, or nil if the snapshot's meta page was overwritten.
  @inline(__always)
  func tree(of snapshot: UInt64) -> (root: UInt64, lastPage: UInt64)? {
    let meta = unsafe page(snapshot & 1)
    // The order of these loads matters. The compiler moves plain loads behind the checks, even across a fence, and a
    // writer can change the meta page between the two. All places are multiples of eight.
    let root = unsafe cistern_load_acquiring(meta + MetaPage.mainPlace + TreeRecord.rootPlace)
    let lastPage = unsafe cistern_load_acquiring(meta + MetaPage.lastPagePlace)
    guard unsafe cistern_load_acquiring(meta + MetaPage.transactionPlace) == snapshot else { return nil }
    // LMDB alternates between the two meta pages. No writer changes this one until the other one is newer.
    guard unsafe cistern_load_acquiring(page(~snapshot & 1) + MetaPage.transactionPlace) < snapshot else { return nil }
    return (root, lastPage)
  }

  /// Returns the page below the last node whose key is not greater. The first node represents all lesser keys.
  @inline(__always)
  private func child(for key: borrowing SoughtKey, of page: UnsafeRawPointer, count: Int) -> UInt64? {
    var low = 1
    var high = count
    var child: UInt64?
    while low < high {
      let middle = (low &+ high) >> 1
      unsafe prefetchNodes(between: low, middle, high, of: page)
      guard let node = unsafe node(middle, of: page) else { return nil }
      if unsafe key.order(to: node) < 0 {
        high = middle
      } else {
        low = middle &+ 1
        let number = unsafe node.child
        // The search may end at this child, so its page is prefetched.
        unsafe cistern_prefetch(self.page(number))
        child = number
      }
    }
    if let child { return child }
    return unsafe node(0, of: page).map { unsafe $0.child }
  }

  @inline(__always)
  private func answer(
    for key: borrowing SoughtKey, of page: UnsafeRawPointer, count: Int, lastPage: UInt64
  ) -> PageMap.Answer {
    if unsafe count <= MappedPages.fewNodes {
      for index in 0..<count { unsafe cistern_prefetch(page + place(index, of: page)) }
    }
    var low = 0
    var high = count
    while low < high {
      let middle = (low &+ high) >> 1
      guard let node = unsafe node(middle, of: page) else { return unsafe .unknown }
      let order = unsafe key.order(to: node)
      if order == 0 { return unsafe value(of: node, in: page, lastPage: lastPage) }
      if order < 0 { high = middle } else { low = middle &+ 1 }
    }
    return unsafe .absent
  }

  /// Prefetches a node, which may be outside the page. The index must be less than the number of nodes.
  @inline(__always)
  func prefetchNode(_ index: Int, of page: UnsafeRawPointer) {
    let node = unsafe page + place(index, of: page)
    unsafe cistern_prefetch(node)
    unsafe cistern_prefetch(node + 64)
  }

  /// Prefetches the two nodes that the search may compare after the middle one.
  @inline(__always)
  private func prefetchNodes(between low: Int, _ middle: Int, _ high: Int, of page: UnsafeRawPointer) {
    unsafe cistern_prefetch(page + place((low &+ middle) >> 1, of: page))
    unsafe cistern_prefetch(page + place((middle &+ 1 &+ high) >> 1, of: page))
  }

  /// Returns the offset of a node as the page states it, which may be outside the page.
  ///
  /// An index equal to the number of nodes is also safe: `checkedPage(_:lastPage:)` ensures that two more bytes are in
  /// the page.
  @inline(__always)
  private func place(_ index: Int, of page: UnsafeRawPointer) -> Int {
    Int(unsafe page.word16(at: TreePage.headerSize &+ 2 &* index))
  }

  /// Returns a node, or nil unless its header and key are within the page.
  @inline(__always)
  func node(_ index: Int, of page: UnsafeRawPointer) -> UnsafeRawPointer? {
    let place = unsafe place(index, of: page)
    guard unsafe place &+ TreeNode.headerSize <= size else { return nil }
    let node = unsafe page + place
    guard unsafe place &+ TreeNode.headerSize &+ node.keySize <= size else { return nil }
    return unsafe node
  }

  @inline(__always)
  func value(of node: UnsafeRawPointer, in page: UnsafeRawPointer, lastPage: UInt64) -> PageMap.Answer {
    let count = Int(unsafe node.word32(at: 0))
    let data = unsafe node + TreeNode.headerSize + node.keySize
    switch unsafe node.word16(at: TreeNode.flagsPlace) {
    case 0:
      guard unsafe data - page &+ count <= size else { return unsafe .unknown }
      return unsafe .value(UnsafeRawBufferPointer(start: data, count: count))
    case TreeNode.ownPagesFlag:
      guard unsafe data - page &+ 8 <= size else { return unsafe .unknown }
      let first = unsafe data.word64(at: 0)
      let pages = unsafe UInt64(count &+ TreePage.headerSize &+ size &- 1) &>> shift
      guard first > 1, first <= lastPage, pages <= lastPage &- first &+ 1 else { return unsafe .unknown }
      return unsafe .value(UnsafeRawBufferPointer(start: self.page(first) + TreePage.headerSize, count: count))
    default: return unsafe .unknown
    }
  }
}

/// A key to look up, with its first eight bytes as a big-endian number for fast comparison.
@unsafe
private struct SoughtKey {
  private let bytes: UnsafeRawPointer
  private let count: Int
  private let first: UInt64

  /// Returns nil if the key has fewer than eight bytes, or is too long for a database.
  @inline(__always)
  init?(_ key: UnsafeRawBufferPointer) {
    guard key.count >= 8, key.count <= TreeNode.longestKey, let bytes = key.baseAddress else { return nil }
    unsafe self.bytes = unsafe bytes
    unsafe count = key.count
    unsafe first = unsafe bytes.word64(at: 0).bigEndian
  }

  /// Compares the key with a node's key in the order of `compareKeys`. The result is negative, zero or positive.
  @inline(__always)
  func order(to node: UnsafeRawPointer) -> Int {
    let nodeCount = unsafe node.keySize
    let common = unsafe min(count, nodeCount)
    guard common >= 8 else { return unsafe orderByMemory(to: node) }
    let nodeFirst = unsafe node.word64(at: TreeNode.headerSize).bigEndian
    if unsafe first != nodeFirst { return unsafe first < nodeFirst ? -1 : 1 }
    guard common <= 16 else { return unsafe orderByMemory(to: node) }
    // In bounds: the last eight common bytes. They may overlap the first eight, which are equal.
    let last = unsafe bytes.word64(at: common &- 8).bigEndian
    let nodeLast = unsafe node.word64(at: TreeNode.headerSize &+ common &- 8).bigEndian
    if last != nodeLast { return last < nodeLast ? -1 : 1 }
    return unsafe count &- nodeCount
  }

  @inline(__always)
  private func orderByMemory(to node: UnsafeRawPointer) -> Int {
    Int(unsafe compareByMemory(bytes, count, node + TreeNode.headerSize, node.keySize))
  }
}
