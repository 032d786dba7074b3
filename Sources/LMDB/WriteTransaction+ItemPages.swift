extension WriteTransaction {
  /// Returns the number of pages that only the items of the key use, as of the last commit.
  ///
  /// The result is zero if the items are few, or if the key has none. They are then in the pages of the index, and its
  /// statistics count these. The result is nil if the mapped pages give no answer. O(log n) for n keys.
  package borrowing func committedPageCount(forKey key: IndexKey, in index: IndexDatabase) -> Int? {
    guard let name = index.name, number > 0,
      let pages = unsafe environment._withUnsafeGuaranteedRef({ unsafe $0.map.pages })
    else { return nil }
    // No transaction changes the pages of the last commit before this one ends.
    return unsafe pages.pageCount(forKey: key, in: name, snapshot: UInt64(number - 1))
  }
}
