/// What a tree holds.
enum TreeRole {
  /// Transaction → the pages that it freed.
  case freeList
  /// The table without a name, and the names of the others in it.
  case main
  case named(KeyOrder)

  var order: KeyOrder {
    switch self {
    case .freeList: .numbers
    case .main: .bytes
    case .named(let order): order
    }
  }

  /// LMDB lets a branch of its own list have one child, and of no other.
  var fewestChildren: Int { if case .freeList = self { 1 } else { 2 } }
}

extension DataFileCheck {
  /// Follows a tree to its last leaf, and compares what it found with what is noted.
  mutating func checkTree(_ tree: TreeRecord, _ role: TreeRole) throws(DataFileDamage) {
    var totals = TreeTotals()
    if tree.root == TreeRecord.noPage {
      guard tree.depth == 0 else { throw DataFileDamage("a table without pages says that it is \(tree.depth) deep") }
    } else {
      guard (1...TreeRecord.greatestDepth).contains(tree.depth) else {
        throw DataFileDamage("a table says that it is \(tree.depth) pages deep")
      }
      try checkPage(tree.root, below: nil, levels: tree.depth, role, from: nil, to: nil, &totals)
    }
    guard totals == tree.totals else {
      throw DataFileDamage("a table says that it has \(tree.totals), and has \(totals)")
    }
  }

  /// Checks a page and all below it: its keys are not less than `first`, and less than `end`.
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

  /// Each key is greater than the one before it. A branch's first is not looked at by LMDB: it may be anything.
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
        // The first of a leaf may be the very key that leads there.
        let isInOrder = index == 0 ? !order.isBefore(key, last) : order.isBefore(last, key)
        guard isInOrder else { throw DataFileDamage(page: page.number, "its key \(index) is out of order") }
      }
      last = key
    }
    if let last, let end, !order.isBefore(last, end) {
      throw DataFileDamage(page: page.number, "its last key belongs to the page behind it")
    }
  }
}
