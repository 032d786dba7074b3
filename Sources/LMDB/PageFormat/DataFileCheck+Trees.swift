/// The content of a tree of pages.
enum TreeRole {
  /// Transaction numbers, each with the pages that the transaction freed.
  case freeList
  /// The unnamed database, which also contains the names of the others.
  case main
  case named(KeyOrder)

  var order: KeyOrder {
    switch self {
    case .freeList: .numbers
    case .main: .bytes
    case .named(let order): order
    }
  }

  /// The lowest number of children of a branch. LMDB allows a single child only in the free list.
  var fewestChildren: Int { if case .freeList = self { 1 } else { 2 } }
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
      try checkPage(tree.root, below: nil, levels: tree.depth, role, from: nil, to: nil, &totals)
    }
    guard totals == tree.totals else {
      throw DataFileDamage("a table states \(tree.totals), but has \(totals)")
    }
  }

  /// Checks a page and all pages below it. Their keys must not be less than `first`, and must be less than `end`.
  private mutating func checkPage(
    _ number: UInt64, below parent: UInt64?, levels: Int, _ role: TreeRole, from first: RawSpan?, to end: RawSpan?,
    _ totals: inout TreeTotals
  ) throws(DataFileDamage) {
    try use.meet(number, from: parent)
    let bytes = try reader.page(number)
    let isLeaf = levels == 1
    let page = try TreePage(
      bytes.checkedBytes, number: number, kind: isLeaf ? .leaf : .branch, fewest: isLeaf ? 1 : role.fewestChildren)
    try tiling.require(page)
    if isLeaf {
      totals.leaves += 1
      totals.entries += UInt64(page.count)
      try checkKeys(page, role.order, from: first, to: end)
      for index in 0..<page.count { try checkValue(of: page.node(index), in: page, role, &totals) }
    } else {
      totals.branches += 1
      try checkKeys(page, role.order, from: first, to: end)
      for index in 0..<page.count {
        let childFirst = index == 0 ? first : page.key(page.node(index))
        let childEnd = index == page.count - 1 ? end : page.key(page.node(index + 1))
        try checkPage(
          page.node(index).child, below: number, levels: levels - 1, role, from: childFirst, to: childEnd, &totals)
      }
    }
  }

  /// Checks that the keys of a page increase. LMDB ignores the first key of a branch, so that key may have any value.
  private func checkKeys(
    _ page: borrowing TreePage, _ order: KeyOrder, from first: RawSpan?, to end: RawSpan?
  ) throws(DataFileDamage) {
    let start = page.kind == .branch ? 1 : 0
    var last = first
    for index in start..<max(start, page.count) {
      let node = page.node(index)
      try order.requireLength(node.keySize, page: page.number)
      let key = page.key(node)
      if let last {
        // The first key of a leaf may equal the branch key that leads to the leaf.
        let isInOrder = index == 0 ? !order.isBefore(key, last) : order.isBefore(last, key)
        guard isInOrder else { throw DataFileDamage(page: page.number, "its key \(index) is not in ascending order") }
      }
      last = key
    }
    if let last, let end, !order.isBefore(last, end) {
      throw DataFileDamage(page: page.number, "its last key belongs to the next page")
    }
  }
}
