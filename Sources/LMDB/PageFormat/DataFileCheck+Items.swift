extension DataFileCheck {
  /// Checks the items of a key of an index, and returns their number.
  ///
  /// One item is the value itself. Some items are in a page within the value, and many in a separate tree. A tree stays
  /// when its items become few.
  mutating func checkItems(of node: TreeNode, in page: borrowing TreePage) throws(DataFileDamage) -> UInt64 {
    guard node.size(in: .leaf) <= largestNode else {
      throw DataFileDamage(page: page.number, "the items of a key have \(node.valueSize) bytes in a leaf")
    }
    switch node.flags {
    case 0:
      guard node.valueSize == IndexItem.size else {
        throw DataFileDamage(page: page.number, "it has an item of \(node.valueSize) bytes")
      }
      return 1
    case TreeNode.itemsFlag:
      let value = page.bytes.extracting(node.valueOffset..<node.valueOffset + node.valueSize)
      let items = try TreePage(nested: value, number: page.number)
      try checkKeys(items, .items, from: nil, to: nil)
      return UInt64(items.count)
    case TreeNode.itemsFlag | TreeNode.tableFlag:
      guard node.valueSize == TreeRecord.size else {
        throw DataFileDamage(page: page.number, "its tree of items has a record of \(node.valueSize) bytes")
      }
      let tree = TreeRecord(page.bytes, at: node.valueOffset)
      // LMDB removes a tree with its last item.
      guard tree.flags == TreeRecord.items, tree.itemSize == IndexItem.size, tree.root != TreeRecord.noPage else {
        throw DataFileDamage(page: page.number, "its tree of items has an invalid record")
      }
      try checkTree(tree, .items)
      return tree.totals.entries
    default: throw DataFileDamage(page: page.number, "one of its nodes has the invalid flags \(node.flags)")
    }
  }
}
