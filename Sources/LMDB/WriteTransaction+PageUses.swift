import CLMDB

extension WriteTransaction {
  /// Returns the number of pages of the file as of the last commit, with the free ones. O(1).
  package borrowing func committedPageCount() throws(LMDBError) -> Int {
    var information = unsafe MDB_envinfo()
    let environment = unsafe environment.takeUnretainedValue().handle
    try check(unsafe mdb_env_info(environment, &information), "read information")
    return unsafe information.me_last_pgno &+ 1
  }

  /// Returns the uses of pages as of the last commit, or nil if the mapped pages give no answer.
  ///
  /// The cost is linear in the number of free pages and of pages with items. The method reads no leaf of items.
  ///
  /// - Parameters:
  ///   - keys: The keys whose items to find.
  ///   - index: The index.
  /// - Returns: The uses.
  package borrowing func committedPageUses(of keys: [IndexKey], in index: IndexDatabase) -> PageUses? {
    guard let name = index.name, number > 0,
      let pages = unsafe environment._withUnsafeGuaranteedRef({ unsafe $0.map.pages })
    else { return nil }
    // No transaction changes the pages of the last commit before this one ends.
    return unsafe pages.uses(of: keys, in: name, snapshot: UInt64(number - 1))
  }

  /// Returns the page of the last commit that contains a key or a value. O(1).
  ///
  /// The result is nil if this transaction has changed the page, and if the location of the map is not known.
  package borrowing func committedPage(of bytes: RawSpan) -> Int? {
    guard number > 0, let pages = unsafe environment._withUnsafeGuaranteedRef({ unsafe $0.map.pages }),
      let lastPage = unsafe pages.tree(of: UInt64(number - 1))?.lastPage
    else { return nil }
    return unsafe bytes.withUnsafeBytes { bytes in
      guard let address = bytes.baseAddress, unsafe address >= pages.start else { return nil }
      // A page that the transaction has changed is elsewhere in memory.
      let page = unsafe (address - pages.start) >> Int(pages.shift)
      return page <= Int(lastPage) ? page : nil
    }
  }
}
