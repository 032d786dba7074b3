// The walk trusts no page, like the lookup of keys. It ends without a result at the first page that is invalid.
extension MappedPages {
  /// Returns the free pages of a snapshot, and the pages with the items of keys. Nil if the pages give no answer.
  ///
  /// - Parameters:
  ///   - keys: The keys.
  ///   - name: The name of the index.
  ///   - snapshot: The number of the snapshot, which the caller keeps open.
  /// - Returns: The uses of the pages.
  func uses(of keys: [IndexKey], in name: ShortKey, snapshot: UInt64) -> PageUses? {
    guard let (_, lastPage) = unsafe tree(of: snapshot) else { return nil }
    let meta = unsafe page(snapshot & 1)
    let freeList = unsafe TreeRecord(RawSpan(_unsafeStart: meta, byteCount: MetaPage.size), at: MetaPage.treesPlace)
    var uses = PageUses(lastPage: Int(lastPage))
    guard unsafe addFreePages(below: freeList.root, depth: freeList.depth, to: &uses) else { return nil }
    for key in keys {
      switch unsafe itemTree(of: key, in: name, snapshot: snapshot) {
      case .none: continue
      case .unknown: return nil
      case .tree(let tree, _):
        let root = PageUses.ItemPage(page: Int(clamping: tree.root), key: key, digest: 0)
        guard unsafe addItemPages(at: root, depth: tree.depth, to: &uses) else { return nil }
      }
    }
    return uses
  }

  /// Adds the page and all pages below it. Returns false if a page is invalid.
  private func addItemPages(at top: PageUses.ItemPage, depth: Int, to uses: inout PageUses) -> Bool {
    // Damaged pages can lead to each other, so the number of pages has a limit.
    guard top.page > 1, top.page <= uses.lastPage, uses.items.count < uses.lastPage else { return false }
    uses.items.append(top)
    if depth <= 1 { return depth == 1 }
    guard depth <= TreeRecord.greatestDepth,
      let (page, count) = unsafe checkedPage(UInt64(top.page), lastPage: UInt64(uses.lastPage)),
      unsafe page.word16(at: TreePage.kindPlace) == TreePage.Kind.branch.rawValue
    else { return false }
    for index in 0..<count {
      guard let node = unsafe node(index, of: page) else { return false }
      var digest = top.digest
      // The first node represents all lesser items.
      if index > 0 {
        guard unsafe node.keySize == IndexItem.size else { return false }
        digest = unsafe node.digest(at: TreeNode.headerSize)
      }
      let child = unsafe PageUses.ItemPage(page: Int(clamping: node.child), key: top.key, digest: digest)
      guard unsafe addItemPages(at: child, depth: depth - 1, to: &uses) else { return false }
    }
    return true
  }

  /// Adds the pages of all lists below a page of the list of free pages. Returns false if a page is invalid.
  private func addFreePages(below number: UInt64, depth: Int, to uses: inout PageUses) -> Bool {
    if number == TreeRecord.noPage { return depth == 0 }
    let lastPage = UInt64(uses.lastPage)
    guard (1...TreeRecord.greatestDepth).contains(depth),
      let (page, count) = unsafe checkedPage(number, lastPage: lastPage),
      unsafe page.word16(at: TreePage.kindPlace)
        == (depth == 1 ? TreePage.Kind.leaf : TreePage.Kind.branch).rawValue
    else { return false }
    for index in 0..<count {
      guard let node = unsafe node(index, of: page) else { return false }
      if depth > 1 {
        guard unsafe addFreePages(below: node.child, depth: depth - 1, to: &uses) else { return false }
      } else {
        guard unsafe node.keySize == MemoryLayout<UInt64>.size,
          case .value(let list) = unsafe value(of: node, in: page, lastPage: lastPage),
          let pages = unsafe freePages(of: list, in: uses)
        else { return false }
        uses.add(PageUses.FreeList(transaction: unsafe node.word64(at: TreeNode.headerSize), pages: pages))
      }
    }
    return true
  }

  /// Returns the pages of a list, which begins with their number. Nil if the list is invalid.
  private func freePages(of list: UnsafeRawBufferPointer, in uses: borrowing PageUses) -> [Int]? {
    let width = MemoryLayout<UInt64>.size
    guard let start = list.baseAddress, list.count >= width else { return nil }
    let count = unsafe start.word64(at: 0)
    // Damaged lists can have the same pages.
    guard count < UInt64(list.count / width), uses.freeCount + Int(count) <= uses.lastPage else { return nil }
    var pages: [Int] = []
    pages.reserveCapacity(Int(count))
    for index in 0..<Int(count) {
      // In bounds: the list has room for `count` numbers after the first one.
      let page = unsafe start.word64(at: (1 + index) * width)
      guard page > 1, page <= UInt64(uses.lastPage) else { return nil }
      pages.append(Int(page))
    }
    return pages
  }
}
