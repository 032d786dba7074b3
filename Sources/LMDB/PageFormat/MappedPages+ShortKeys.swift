// The search trusts no page, like the lookup of other keys.
extension MappedPages {
  /// A node of a leaf that has a sought key.
  @unsafe
  enum Found {
    case node(UnsafeRawPointer, in: UnsafeRawPointer)
    case absent
    case unknown
  }

  /// Searches for a short key in a tree of nodes.
  @inline(__always)
  func node(for key: ShortKey, below root: UInt64, lastPage: UInt64) -> Found {
    var number = root
    for _ in 0..<TreeRecord.greatestDepth {
      guard let (page, count) = unsafe checkedPage(number, lastPage: lastPage) else { return unsafe .unknown }
      let kind = unsafe page.word16(at: TreePage.kindPlace)
      guard kind == TreePage.Kind.branch.rawValue || kind == TreePage.Kind.leaf.rawValue else { return unsafe .unknown }
      // The first node of a branch represents all lesser keys.
      var low = kind == TreePage.Kind.branch.rawValue ? 1 : 0
      var high = count
      while low < high {
        let middle = (low &+ high) >> 1
        guard let node = unsafe node(middle, of: page) else { return unsafe .unknown }
        let order = unsafe key.order(toWord: firstBytes(of: node, in: page), count: node.keySize)
        if order == 0, kind == TreePage.Kind.leaf.rawValue { return unsafe .node(node, in: page) }
        if order < 0 { high = middle } else { low = middle &+ 1 }
      }
      if kind == TreePage.Kind.leaf.rawValue { return unsafe .absent }
      guard let node = unsafe node(low &- 1, of: page) else { return unsafe .unknown }
      number = unsafe node.child
    }
    return unsafe .unknown
  }

  /// Returns the first eight bytes of a node's key as a big-endian number, with zeros after a shorter key.
  @inline(__always)
  private func firstBytes(of node: UnsafeRawPointer, in page: UnsafeRawPointer) -> UInt64 {
    let count = unsafe min(node.keySize, 8)
    if unsafe node - page &+ TreeNode.headerSize &+ 8 <= size {
      return unsafe node.word64(at: TreeNode.headerSize).bigEndian & ~(UInt64.max >> UInt64(8 &* count))
    }
    // Eight bytes would extend beyond the page. The key itself is in it.
    var word: UInt64 = 0
    for index in 0..<count {
      word |=
        unsafe UInt64(node.load(fromByteOffset: TreeNode.headerSize + index, as: UInt8.self)) << UInt64(56 - 8 * index)
    }
    return word
  }

  /// Returns the value of a leaf's node without overflow pages, or nil unless it is within the page.
  @inline(__always)
  func value(of node: UnsafeRawPointer, in page: UnsafeRawPointer) -> UnsafeRawBufferPointer? {
    let count = Int(unsafe node.word32(at: 0))
    let data = unsafe node + TreeNode.headerSize + node.keySize
    guard unsafe data - page &+ count <= size else { return nil }
    return unsafe UnsafeRawBufferPointer(start: data, count: count)
  }

  /// Returns the root of the tree whose record is the value of a node, or nil unless both have the flags.
  @inline(__always)
  func root(
    recordedIn node: UnsafeRawPointer, of page: UnsafeRawPointer, node nodeFlags: UInt16, tree flags: UInt16
  ) -> UInt64? {
    guard unsafe node.word16(at: TreeNode.flagsPlace) == nodeFlags, let record = unsafe value(of: node, in: page),
      record.count == TreeRecord.size, let start = record.baseAddress,
      unsafe start.word16(at: TreeRecord.flagsPlace) == flags
    else { return nil }
    return unsafe start.word64(at: TreeRecord.rootPlace)
  }
}
