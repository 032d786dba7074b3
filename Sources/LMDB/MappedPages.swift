import CMemoryHints
import Synchronization

/// Looks keys up in the pages of a map, as LMDB does, but for what takes time: nothing is called to compare keys, no
/// cursor is set up, and the lines of memory that may come next are asked for while others are looked at.
///
/// Trusts no page: each place that one leads to is compared with where it may be, and what is not as it should be is
/// left to LMDB.
@unsafe
struct MappedPages {
  /// Page 0. All pages up to the last one of a snapshot are there.
  private let start: UnsafeRawPointer
  /// The logarithm of a page's size.
  private let shift: UInt64

  /// Of so many nodes or fewer the lines are asked for all at once; a page of more has less than two for a line.
  private static let fewNodes = 40

  @inline(__always)
  init(start: UnsafeRawPointer, shift: UInt64) {
    unsafe self.start = unsafe start
    unsafe self.shift = shift
  }

  @inline(__always)
  private var size: Int { unsafe 1 &<< Int(truncatingIfNeeded: shift) }

  @inline(__always)
  private func page(_ number: UInt64) -> UnsafeRawPointer {
    unsafe start + Int(truncatingIfNeeded: number &<< shift)
  }

  @inline(__always)
  func look(for key: UnsafeRawBufferPointer, snapshot: UInt64) -> PageMap.Answer {
    guard let key = unsafe SoughtKey(key), let (root, lastPage) = unsafe tree(of: snapshot) else {
      return unsafe .unknown
    }
    var number = root
    for _ in 0..<TreeRecord.greatestDepth {
      guard number > 1, number <= lastPage else { return unsafe .unknown }
      let page = unsafe page(number)
      let lower = Int(unsafe page.word16(at: TreePage.lowerPlace))
      guard unsafe page.word64(at: 0) == number, lower > TreePage.headerSize, unsafe lower <= size - 2 else {
        return unsafe .unknown
      }
      let count = (lower - TreePage.headerSize) >> 1
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

  /// The root of the table without a name, and the last page; nil where the snapshot's meta page is not there any more.
  @inline(__always)
  private func tree(of snapshot: UInt64) -> (root: UInt64, lastPage: UInt64)? {
    let meta = unsafe page(snapshot & 1)
    let root = unsafe meta.word64(at: MetaPage.mainPlace + TreeRecord.rootPlace)
    let lastPage = unsafe meta.word64(at: MetaPage.lastPagePlace)
    guard unsafe meta.word64(at: MetaPage.transactionPlace) == snapshot else { return nil }
    // The two are written in turn: until the other one is newer, nobody had begun to write to this one.
    atomicMemoryFence(ordering: .acquiring)
    guard unsafe page(~snapshot & 1).word64(at: MetaPage.transactionPlace) < snapshot else { return nil }
    return (root, lastPage)
  }

  /// The page below the last node whose key is not greater. The first node stands for all lesser keys.
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
        // It may be the one.
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

  /// Has either of the two nodes fetched that may be compared after the middle one.
  @inline(__always)
  private func prefetchNodes(between low: Int, _ middle: Int, _ high: Int, of page: UnsafeRawPointer) {
    unsafe cistern_prefetch(page + place((low &+ middle) >> 1, of: page))
    unsafe cistern_prefetch(page + place((middle &+ 1 &+ high) >> 1, of: page))
  }

  /// Where a node says that it is, in the page or not. There is a place for each node, and room for one more.
  @inline(__always)
  private func place(_ index: Int, of page: UnsafeRawPointer) -> Int {
    Int(unsafe page.word16(at: TreePage.headerSize &+ 2 &* index))
  }

  /// A node, of which the header and the key are in the page.
  @inline(__always)
  private func node(_ index: Int, of page: UnsafeRawPointer) -> UnsafeRawPointer? {
    let place = unsafe place(index, of: page)
    guard unsafe place &+ TreeNode.headerSize <= size else { return nil }
    let node = unsafe page + place
    guard unsafe place &+ TreeNode.headerSize &+ node.keySize <= size else { return nil }
    return unsafe node
  }

  @inline(__always)
  private func value(of node: UnsafeRawPointer, in page: UnsafeRawPointer, lastPage: UInt64) -> PageMap.Answer {
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

/// A key that is looked for, with its first bytes as the number that they are compared as.
@unsafe
private struct SoughtKey {
  private let bytes: UnsafeRawPointer
  private let count: Int
  private let first: UInt64

  /// Nil for a key of fewer than eight bytes, or of more than a table's can have.
  @inline(__always)
  init?(_ key: UnsafeRawBufferPointer) {
    guard key.count >= 8, key.count <= TreeNode.longestKey, let bytes = key.baseAddress else { return nil }
    unsafe self.bytes = unsafe bytes
    unsafe count = key.count
    unsafe first = unsafe bytes.word64(at: 0).bigEndian
  }

  /// Less than zero, zero or more, as the key is less than the node's, equal or greater: in the order of `compareKeys`.
  @inline(__always)
  func order(to node: UnsafeRawPointer) -> Int {
    let nodeCount = unsafe node.keySize
    let common = unsafe min(count, nodeCount)
    guard common >= 8 else { return unsafe orderByMemory(to: node) }
    let nodeFirst = unsafe node.word64(at: TreeNode.headerSize).bigEndian
    if unsafe first != nodeFirst { return unsafe first < nodeFirst ? -1 : 1 }
    guard common <= 16 else { return unsafe orderByMemory(to: node) }
    // In bounds: the last eight bytes of what both have, of which some were equal already.
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

extension UnsafeRawPointer {
  // At no alignment. The caller keeps them in the page.
  @inline(__always)
  fileprivate func word16(at offset: Int) -> UInt16 { unsafe loadUnaligned(fromByteOffset: offset, as: UInt16.self) }
  @inline(__always)
  fileprivate func word32(at offset: Int) -> UInt32 { unsafe loadUnaligned(fromByteOffset: offset, as: UInt32.self) }
  @inline(__always)
  fileprivate func word64(at offset: Int) -> UInt64 { unsafe loadUnaligned(fromByteOffset: offset, as: UInt64.self) }

  /// Of a node: the length of its key.
  @inline(__always)
  fileprivate var keySize: Int { unsafe Int(word16(at: TreeNode.keySizePlace)) }
  /// Of a branch's node: the number of the page below.
  @inline(__always)
  fileprivate var child: UInt64 { unsafe UInt64(word32(at: 0)) | UInt64(word16(at: TreeNode.flagsPlace)) &<< 32 }
}
