/// A page of a tree with all pages below it.
private struct Subtree {
  let root: UInt64
  /// The page that refers to the root. Nil for the root of the tree.
  let parent: UInt64?
  /// The number of levels, which is 1 for a leaf.
  let levels: Int
  let role: TreeRole
}

extension DataFileCheck {
  /// Checks all pages of a tree, and compares their totals with the tree's record.
  mutating func checkTree(_ tree: TreeRecord, _ role: TreeRole) throws(DataFileDamage) {
    var totals = TreeTotals()
    if tree.root == TreeRecord.noPage {
      guard tree.depth == 0 else { throw DataFileDamage("a table without pages states the depth \(tree.depth)") }
    } else {
      guard (1...TreeRecord.greatestDepth).contains(tree.depth) else {
        throw DataFileDamage("a table states the invalid depth \(tree.depth)")
      }
      let whole = Subtree(root: tree.root, parent: nil, levels: tree.depth, role: role)
      try check(whole, from: nil, to: nil, &totals)
    }
    guard totals == tree.totals else {
      throw DataFileDamage("a table states \(tree.totals), but has \(totals)")
    }
  }

  /// Checks all pages of a subtree. Their keys must not be less than `first`, and must be less than `end`.
  private mutating func check(
    _ subtree: Subtree, from first: RawSpan?, to end: RawSpan?, _ totals: inout TreeTotals
  ) throws(DataFileDamage) {
    let (number, role) = (subtree.root, subtree.role)
    try pagesMet.note(number, from: subtree.parent)
    let bytes = try reader.page(number)
    let isLeaf = subtree.levels == 1
    let page = try TreePage(
      bytes.checkedBytes, number: number, kind: isLeaf ? role.leafKind : .branch,
      fewest: isLeaf ? 1 : role.fewestChildren)
    if page.kind != .items { try tiling.require(page) }
    if isLeaf {
      totals.leaves += 1
      try checkKeys(page, role.order, from: first, to: end)
      switch role {
      case .items: totals.entries += UInt64(page.count)
      case .index: for index in 0..<page.count { totals.entries += try checkItems(of: page.node(index), in: page) }
      case .freeList, .main, .named:
        totals.entries += UInt64(page.count)
        for index in 0..<page.count { try checkValue(of: page.node(index), in: page, role, &totals) }
      }
    } else {
      totals.branches += 1
      try checkKeys(page, role.order, from: first, to: end)
      for index in 0..<page.count {
        let childFirst = index == 0 ? first : page.key(index)
        let childEnd = index == page.count - 1 ? end : page.key(index + 1)
        let child = Subtree(
          root: page.node(index).child, parent: number, levels: subtree.levels - 1, role: role)
        try check(child, from: childFirst, to: childEnd, &totals)
      }
    }
  }

  /// Checks that the keys of a page increase. LMDB ignores the first key of a branch, so that key may have any value.
  func checkKeys(
    _ page: borrowing TreePage, _ order: KeyOrder, from first: RawSpan?, to end: RawSpan?
  ) throws(DataFileDamage) {
    let start = page.kind == .branch ? 1 : 0
    var last = first
    for index in start..<max(start, page.count) {
      let key = page.key(index)
      try order.requireLength(key.byteCount, page: page.number)
      if let last {
        // The first key of a leaf may equal the branch key that leads to the leaf.
        let isInOrder = order.allows(last, before: key, orEqual: index == 0)
        guard isInOrder else { throw DataFileDamage(page: page.number, "its key \(index) is not in ascending order") }
      }
      last = key
    }
    if let last, let end, !order.allows(last, before: end) {
      throw DataFileDamage(page: page.number, "its last key belongs to the next page")
    }
  }
}
