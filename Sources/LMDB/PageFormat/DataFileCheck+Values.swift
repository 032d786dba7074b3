extension DataFileCheck {
  /// Checks the data that a leaf's node refers to: overflow pages, another database, or free pages.
  mutating func checkValue(
    of node: TreeNode, in page: borrowing TreePage, _ role: TreeRole, _ totals: inout TreeTotals
  ) throws(DataFileDamage) {
    var place = (page: page.number, offset: node.valueOffset)
    switch node.flags {
    case 0:
      guard node.size(in: .leaf) <= largestNode else {
        throw DataFileDamage(page: page.number, "a value of \(node.valueSize) bytes has no overflow pages")
      }
    case TreeNode.ownPagesFlag:
      let first = page.bytes.number(at: node.valueOffset, as: UInt64.self)
      totals.overflows += try checkOverflow(first, size: node.valueSize, below: page.number)
      place = (first, TreePage.headerSize)
    case TreeNode.tableFlag:
      guard case .main = role, node.valueSize == TreeRecord.size else {
        throw DataFileDamage(page: page.number, "it contains a table in a place that cannot have one")
      }
      try checkNamed(TreeRecord(page.bytes, at: node.valueOffset))
    default: throw DataFileDamage(page: page.number, "one of its nodes has the invalid flags \(node.flags)")
    }
    if case .freeList = role {
      let transaction = page.bytes.number(at: node.keyOffset, as: UInt64.self)
      guard transaction > 0, transaction <= newest.transaction else {
        throw DataFileDamage(page: page.number, "it refers to transaction \(transaction), which has not happened")
      }
      try checkFreePages(at: place, size: node.valueSize)
    }
  }

  /// The largest node of a leaf that has no overflow pages. Two such nodes fit in a page.
  var largestNode: Int { (((reader.pageSize - TreePage.headerSize) / 2) & ~1) - 2 }

  private mutating func checkNamed(_ tree: TreeRecord) throws(DataFileDamage) {
    switch tree.flags {
    case 0: try checkTree(tree, .named(.bytes))
    case TreeRecord.integerKeys: try checkTree(tree, .named(.numbers))
    case TreeRecord.index: try checkTree(tree, .index)
    default: throw DataFileDamage("a table has the invalid flags \(tree.flags)")
    }
  }

  /// Checks the overflow pages of a value, and returns their number. The number may be higher than the value needs.
  private mutating func checkOverflow(
    _ first: UInt64, size: Int, below parent: UInt64
  ) throws(DataFileDamage) -> UInt64 {
    try pagesMet.note(first, from: parent)
    let bytes = try reader.bytes(TreePage.headerSize, of: first, at: 0)
    try TreePage.requireKind(.overflow, first, bytes.checkedBytes)
    let count = UInt64(bytes.checkedBytes.number(at: 12, as: UInt32.self))
    let needed = UInt64((TreePage.headerSize - 1 + size) / reader.pageSize + 1)
    guard count >= needed, count <= newest.lastPage, first <= newest.lastPage - (count - 1) else {
      throw DataFileDamage(page: first, "it states \(count) overflow pages for \(size) bytes")
    }
    for page in first + 1..<first + count { try pagesMet.note(page, from: first) }
    return count
  }

  /// Checks a list of free pages, which consists of a count and page numbers in descending order.
  private mutating func checkFreePages(
    at place: (page: UInt64, offset: Int), size: Int
  ) throws(DataFileDamage) {
    let width = MemoryLayout<UInt64>.size
    guard size >= width, size % width == 0 else {
      throw DataFileDamage(page: place.page, "its list of free pages has the invalid size \(size)")
    }
    let head = try reader.bytes(width, of: place.page, at: place.offset)
    let count = head.checkedBytes.number(at: 0, as: UInt64.self)
    // The space may be larger than the list.
    guard count < UInt64(size / width) else {
      throw DataFileDamage(page: place.page, "its list of free pages states \(count) pages in \(size) bytes")
    }
    var last = UInt64.max
    var done = 0
    while done < Int(count) {
      let step = min(Int(count) - done, 512)
      let bytes = try reader.bytes(step * width, of: place.page, at: place.offset + (1 + done) * width)
      for index in 0..<step {
        let page = bytes.checkedBytes.number(at: index * width, as: UInt64.self)
        guard page < last else { throw DataFileDamage(page: place.page, "its free pages are not in descending order") }
        try pagesMet.noteFree(page, from: place.page)
        last = page
      }
      done += step
    }
  }
}
