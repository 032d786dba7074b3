import CSupport

// The search for items trusts no page, like the lookup of keys. The order of the items alone is trusted: in damaged
// pages, a search can miss items.
extension MappedPages {
  /// Searches for the items of a key that have a digest.
  ///
  /// - Parameters:
  ///   - digest: The digest.
  ///   - key: The key.
  ///   - name: The name of the index.
  ///   - snapshot: The number of the snapshot, which the caller keeps open.
  /// - Returns: The places of the items.
  func items(of digest: UInt64, key: IndexKey, in name: ShortKey, snapshot: UInt64) -> MappedItems {
    let (found, lastPage) = unsafe node(for: key, in: name, snapshot: snapshot)
    guard case .node(let node, let page) = unsafe found else { return unsafe MappedItems(without: found) }
    return unsafe items(of: digest, at: node, in: page, lastPage: lastPage) ?? MappedItems(rest: .unknown)
  }

  /// Returns the number of pages of the tree with the items of a key, or nil if the pages give no answer. The number is
  /// zero if the items have no tree.
  func pageCount(forKey key: IndexKey, in name: ShortKey, snapshot: UInt64) -> Int? {
    switch unsafe itemTree(of: key, in: name, snapshot: snapshot) {
    case .none: return 0
    case .unknown: return nil
    case .tree(let tree, let lastPage):
      let totals = tree.totals
      guard totals.branches <= lastPage, totals.leaves <= lastPage - totals.branches else { return nil }
      return Int(totals.branches + totals.leaves)
    }
  }

  /// The tree with the items of a key.
  enum ItemTree {
    case tree(TreeRecord, lastPage: UInt64)
    /// The items are few, and in the pages of the index itself. Or the key has none.
    case none
    /// The pages give no answer.
    case unknown
  }

  /// Returns the tree with the items of a key of an index.
  func itemTree(of key: IndexKey, in name: ShortKey, snapshot: UInt64) -> ItemTree {
    let (found, lastPage) = unsafe node(for: key, in: name, snapshot: snapshot)
    switch unsafe found {
    case .absent: return .none
    case .unknown: return .unknown
    case .node(let node, let page):
      let flags = TreeNode.itemsFlag | TreeNode.tableFlag
      guard unsafe node.word16(at: TreeNode.flagsPlace) == flags else { return .none }
      guard let record = unsafe value(of: node, in: page), record.count == TreeRecord.size else { return .unknown }
      return unsafe .tree(TreeRecord(RawSpan(_unsafeBytes: record), at: 0), lastPage: lastPage)
    }
  }

  /// Searches for the node of a key of an index. Also returns the last page of the snapshot.
  @inline(__always)
  private func node(for key: IndexKey, in name: ShortKey, snapshot: UInt64) -> (found: Found, lastPage: UInt64) {
    guard let (main, lastPage) = unsafe tree(of: snapshot) else { return unsafe (.unknown, 0) }
    let table = unsafe node(for: name, below: main, lastPage: lastPage)
    guard case .node(let record, let page) = unsafe table else { return unsafe (table, lastPage) }
    guard let root = unsafe root(recordedIn: record, of: page, node: TreeNode.tableFlag, tree: TreeRecord.index) else {
      return unsafe (.unknown, lastPage)
    }
    if root == TreeRecord.noPage { return unsafe (.absent, lastPage) }
    return unsafe (node(for: ShortKey(key), below: root, lastPage: lastPage), lastPage)
  }

  /// Returns the items at a node of the index, or nil if the node is invalid.
  @inline(__always)
  private func items(
    of digest: UInt64, at node: UnsafeRawPointer, in page: UnsafeRawPointer, lastPage: UInt64
  ) -> MappedItems? {
    let sought = SoughtDigest(digest)
    switch unsafe node.word16(at: TreeNode.flagsPlace) {
    case 0:
      guard let item = unsafe value(of: node, in: page), item.count == IndexItem.size,
        let data = item.baseAddress
      else { return nil }
      return unsafe MappedItems(sought, at: data, count: 1, rest: .none)
    case TreeNode.itemsFlag:
      guard let nested = unsafe value(of: node, in: page), let data = nested.baseAddress,
        nested.count > TreePage.headerSize,
        unsafe data.word16(at: TreePage.kindPlace) & ~TreePage.changedFlag == TreePage.Kind.nestedItems.rawValue,
        unsafe data.word16(at: TreePage.itemSizePlace) == IndexItem.size
      else { return nil }
      let lower = Int(unsafe data.word16(at: TreePage.lowerPlace))
      let count = (lower &- TreePage.headerSize) >> 1
      guard count > 0, TreePage.headerSize &+ count &* IndexItem.size <= nested.count else { return nil }
      return unsafe MappedItems(sought, at: data + TreePage.headerSize, count: count, rest: .none)
    case TreeNode.itemsFlag | TreeNode.tableFlag:
      let flags = TreeNode.itemsFlag | TreeNode.tableFlag
      guard let root = unsafe root(recordedIn: node, of: page, node: flags, tree: TreeRecord.items) else { return nil }
      return unsafe items(of: sought, below: root, lastPage: lastPage)
    default: return nil
    }
  }

  /// Follows the branches of a tree of items to the leaf with the first item that may have the digest.
  ///
  /// Each branch leads to the last child whose first digest is less than the sought one. Items with the digest can
  /// follow in the next leaf only if the first digest there is equal.
  private func items(of digest: SoughtDigest, below root: UInt64, lastPage: UInt64) -> MappedItems? {
    var sought = digest
    var number = root
    var rest = unsafe MappedItems.Rest.none
    for _ in 0..<TreeRecord.greatestDepth {
      guard let (page, count) = unsafe checkedPage(number, lastPage: lastPage) else { return nil }
      switch unsafe page.word16(at: TreePage.kindPlace) {
      case TreePage.Kind.branch.rawValue:
        let next = sought.firstIndex(in: 1..<count, near: sought.guess(in: count)) { index in
          guard let node = unsafe branchNode(index, of: page) else { return nil }
          let first = unsafe node.digest(at: TreeNode.headerSize)
          // The search may end at this child.
          if first < sought.digest { unsafe cistern_prefetch(self.page(node.child)) }
          return first
        }
        guard let next, let node = unsafe node(next &- 1, of: page) else { return nil }
        number = unsafe node.child
        if next > 1 { sought.low = unsafe node.digest(at: TreeNode.headerSize) }
        if next < count {
          guard let node = unsafe branchNode(next, of: page) else { return nil }
          sought.high = unsafe node.digest(at: TreeNode.headerSize)
          unsafe rest = sought.high == sought.digest ? unsafe .page(node.child, of: self, lastPage: lastPage) : .none
        }
      case TreePage.Kind.items.rawValue:
        guard unsafe hasItems(count) else { return nil }
        return unsafe MappedItems(sought, at: page + TreePage.headerSize, count: count, rest: rest)
      default: return nil
      }
    }
    return nil
  }

  /// Returns the items of the first leaf of a subtree, or nil if a page is invalid.
  func firstItems(below root: UInt64, lastPage: UInt64) -> (items: UnsafeRawPointer, count: Int)? {
    var number = root
    for _ in 0..<TreeRecord.greatestDepth {
      guard let (page, count) = unsafe checkedPage(number, lastPage: lastPage) else { return nil }
      switch unsafe page.word16(at: TreePage.kindPlace) {
      case TreePage.Kind.branch.rawValue:
        guard let node = unsafe node(0, of: page) else { return nil }
        number = unsafe node.child
      case TreePage.Kind.items.rawValue:
        return unsafe hasItems(count) ? (page + TreePage.headerSize, count) : nil
      default: return nil
      }
    }
    return nil
  }

  /// Returns whether so many items are within a page.
  @inline(__always)
  private func hasItems(_ count: Int) -> Bool { unsafe TreePage.headerSize &+ count &* IndexItem.size <= size }

  /// Returns a node of a branch of a tree of items, or nil unless it has an item as its key.
  @inline(__always)
  private func branchNode(_ index: Int, of page: UnsafeRawPointer) -> UnsafeRawPointer? {
    guard let node = unsafe node(index, of: page), unsafe node.keySize == IndexItem.size else { return nil }
    return unsafe node
  }
}

extension MappedItems {
  /// Creates the result of a search that did not find a node, or found one that it does not understand.
  fileprivate init(without found: MappedPages.Found) {
    if case .absent = unsafe found { unsafe self.init(rest: .none) } else { unsafe self.init(rest: .unknown) }
  }
}
