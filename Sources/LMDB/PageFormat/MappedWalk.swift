import CSupport

/// A walk over the entries of the unnamed database in mapped pages, in key order.
///
/// The walk trusts no page, like the lookup of keys. It reports damage that it cannot read, and keys that do not rise.
/// It therefore ends in damaged pages too, and visits no key twice.
@unsafe
@usableFromInline
struct MappedWalk {
  /// The result of a move.
  enum Step {
    case entry
    case end
    /// The location of the pages or the root of the snapshot is unknown, so the caller must use LMDB.
    ///
    /// Only a move to a key has this result.
    case unknown
    /// A page is damaged. LMDB must not read it, because it could end the process.
    case damaged
  }

  /// A page, and an index among its nodes.
  @unsafe
  struct Place {
    var page: UnsafeRawPointer
    var index: Int
    var count: Int
  }

  /// The number of nodes between the current one and the one to prefetch.
  private static let nodesPrefetched = 8

  private let pages: MappedPages
  /// Whether the pages and the root are known.
  private let isKnown: Bool
  private let root: UInt64
  private let lastPage: UInt64
  /// The leaf of the current entry. Before the first move, the place after it is the first one.
  private var leaf: Place
  /// The branch above the leaf, with the index of the leaf's node. Nil if the root is a leaf.
  private var branch: Place?
  /// The node whose key begins the entries after those below ``branch``. Nil if no entries follow.
  private var bound: UnsafeRawPointer?
  // The bytes of the current entry are within the map while the snapshot is open. LMDB's cursor can set them too.
  @usableFromInline var key = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
  @usableFromInline var value = unsafe UnsafeRawBufferPointer(start: nil, count: 0)

  /// Creates a walk that gives no answer if the pages are nil, or do not tell the root of the snapshot.
  init(_ pages: MappedPages?, snapshot: UInt64) {
    if let pages = unsafe pages, let (root, lastPage) = unsafe pages.tree(of: snapshot) {
      unsafe (self.pages, self.root, self.lastPage) = unsafe (pages, root, lastPage)
      unsafe isKnown = true
    } else {
      // No page number is within these bounds, so the walk does not read at this address.
      unsafe self.pages = unsafe MappedPages(start: UnsafeRawPointer(bitPattern: 1).unsafelyUnwrapped, shift: 0)
      unsafe (root, lastPage) = (0, 0)
      unsafe isKnown = false
    }
    unsafe leaf = unsafe Place(page: self.pages.start, index: 0, count: 0)
  }

  /// Moves to the first entry at or after the key.
  mutating func move(toFirstFrom key: UnsafeRawBufferPointer) -> Step {
    guard unsafe isKnown else { return .unknown }
    if unsafe root == TreeRecord.noPage { return .end }
    unsafe bound = nil
    guard unsafe descend(toFirstFrom: key) else { return .damaged }
    // The first entry can have the key itself.
    unsafe self.key = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
    let step = unsafe moveToNext()
    if step == .entry, unsafe self.key.precedes(key) { return .damaged }
    return step
  }

  /// Moves to the next entry. The walk must be at an entry.
  @inline(__always)
  mutating func moveToNext() -> Step {
    unsafe leaf.index &+= 1
    return unsafe leaf.index < leaf.count ? read(leaf) : moveToNextLeaf()
  }

  @inline(never)
  private mutating func moveToNextLeaf() -> Step {
    while var parent = unsafe branch {
      unsafe parent.index &+= 1
      if unsafe parent.index < parent.count {
        guard let node = unsafe pages.node(parent.index, of: parent.page),
          let (page, count) = unsafe leafPage(node.child)
        else { return .damaged }
        unsafe branch = unsafe parent
        unsafe leaf = unsafe Place(page: page, index: 0, count: count)
        unsafe prefetchLeaf(behind: parent)
        return unsafe read(leaf)
      }
      guard let start = unsafe bound else { return .end }
      unsafe bound = nil
      guard unsafe descend(toFirstFrom: start.nodeKey) else { return .damaged }
      // Otherwise, damaged pages could lead back to the same branch without an entry.
      if let next = unsafe bound, unsafe !start.nodeKey.precedes(next.nodeKey) { return .damaged }
      unsafe leaf.index &+= 1
      if unsafe leaf.index < leaf.count { return unsafe read(leaf) }
    }
    return .end
  }

  /// Prefetches the head and the end of the next leaf. Keys that were written in order have their first nodes at its
  /// end.
  private func prefetchLeaf(behind parent: Place) {
    let next = unsafe parent.index &+ 1
    guard unsafe next < parent.count, let node = unsafe pages.node(next, of: parent.page) else { return }
    let page = unsafe pages.page(node.child)
    unsafe cistern_prefetch(page)
    unsafe cistern_prefetch(page + 64)
    unsafe cistern_prefetch(page + (pages.size &- 64))
    unsafe cistern_prefetch(page + (pages.size &- 128))
  }

  /// Follows the branches to the leaf with the first key that is not less, and sets the place before that key. The
  /// key can be in the next leaf.
  private mutating func descend(toFirstFrom key: UnsafeRawBufferPointer) -> Bool {
    var number = unsafe root
    var parent: Place?
    for _ in 0..<TreeRecord.greatestDepth {
      guard let (page, count) = unsafe pages.checkedPage(number, lastPage: lastPage) else { return false }
      switch unsafe page.word16(at: TreePage.kindPlace) {
      case TreePage.Kind.branch.rawValue:
        if let parent = unsafe parent, unsafe parent.index &+ 1 < parent.count {
          guard let node = unsafe pages.node(parent.index &+ 1, of: parent.page) else { return false }
          unsafe bound = unsafe node
        }
        // The first node represents all lesser keys.
        guard let next = unsafe firstIndex(in: 1..<count, of: page, where: { unsafe key.precedes($0) }),
          let node = unsafe pages.node(next &- 1, of: page)
        else { return false }
        unsafe parent = unsafe Place(page: page, index: next &- 1, count: count)
        number = unsafe node.child
      case TreePage.Kind.leaf.rawValue:
        guard let first = unsafe firstIndex(in: 0..<count, of: page, where: { unsafe !$0.precedes(key) }) else {
          return false
        }
        unsafe leaf = unsafe Place(page: page, index: first &- 1, count: count)
        unsafe branch = unsafe parent
        return true
      default: return false
      }
    }
    return false
  }

  /// Returns the first index whose key meets the condition, or the end of the range. All later keys meet it too.
  /// Returns nil if a node is invalid.
  private func firstIndex(
    in range: Range<Int>, of page: UnsafeRawPointer, where condition: (UnsafeRawBufferPointer) -> Bool
  ) -> Int? {
    var (low, high) = (range.lowerBound, range.upperBound)
    while low < high {
      let middle = (low &+ high) >> 1
      guard let node = unsafe pages.node(middle, of: page) else { return nil }
      if unsafe condition(node.nodeKey) { high = middle } else { low = middle &+ 1 }
    }
    return low
  }

  @inline(__always)
  private func leafPage(_ number: UInt64) -> (page: UnsafeRawPointer, count: Int)? {
    guard let (page, count) = unsafe pages.checkedPage(number, lastPage: lastPage),
      unsafe page.word16(at: TreePage.kindPlace) == TreePage.Kind.leaf.rawValue
    else { return nil }
    return unsafe (page, count)
  }

  @inline(__always)
  private mutating func read(_ place: Place) -> Step {
    let ahead = unsafe place.index &+ Self.nodesPrefetched
    if unsafe ahead < place.count { unsafe pages.prefetchNode(ahead, of: place.page) }
    guard let node = unsafe pages.node(place.index, of: place.page) else { return .damaged }
    // Otherwise, a damaged branch could lead to the same leaf twice.
    let next = unsafe node.nodeKey
    guard unsafe key.isBefore(next) else { return .damaged }
    unsafe key = unsafe next
    if case .value(let bytes) = unsafe pages.value(of: node, in: place.page, lastPage: lastPage) {
      unsafe value = unsafe bytes
      return .entry
    }
    // The value is the record of another database.
    guard unsafe node.word16(at: TreeNode.flagsPlace) == TreeNode.tableFlag,
      let record = unsafe pages.value(of: node, in: place.page)
    else { return .damaged }
    unsafe value = unsafe record
    return .entry
  }
}

extension UnsafeRawPointer {
  /// The key, for a pointer to a node that is completely within its page.
  @inline(__always)
  fileprivate var nodeKey: UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(start: self + TreeNode.headerSize, count: keySize)
  }
}

extension UnsafeRawBufferPointer {
  /// Whether the bytes precede those of a node, or are missing.
  ///
  /// Most neighbors differ within 16 bytes, which two comparisons of numbers find without a call.
  @inline(__always)
  fileprivate func isBefore(_ next: UnsafeRawBufferPointer) -> Bool {
    guard let start = baseAddress else { return true }
    let nextStart = unsafe next.baseAddress.unsafelyUnwrapped
    if count >= 16, next.count >= 16 {
      let (high, nextHigh) = unsafe (start.word64(at: 0).bigEndian, nextStart.word64(at: 0).bigEndian)
      if high != nextHigh { return high < nextHigh }
      let (low, nextLow) = unsafe (start.word64(at: 8).bigEndian, nextStart.word64(at: 8).bigEndian)
      if low != nextLow { return low < nextLow }
    }
    return unsafe compareByMemory(start, count, nextStart, next.count) < 0
  }

  /// Whether the bytes precede others in LMDB's key order.
  fileprivate func precedes(_ other: UnsafeRawBufferPointer) -> Bool {
    guard let start = baseAddress, let otherStart = other.baseAddress else { return count < other.count }
    return unsafe compareByMemory(start, count, otherStart, other.count) < 0
  }
}
