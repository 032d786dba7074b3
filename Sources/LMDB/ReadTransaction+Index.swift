extension ReadTransaction {
  /// Returns the first address of a digest that the closure accepts, or nil without one. O(log n).
  ///
  /// The addresses of one digest have no order. Different things can have the same digest, so the closure compares
  /// them. The search does not allocate, and calls LMDB only if the mapped pages give no answer.
  ///
  /// - Parameters:
  ///   - digest: The digest, of at most 48 bits.
  ///   - key: The key of the items.
  ///   - index: The index.
  ///   - isSought: Returns whether the address is the sought one. The search calls it at most once for each item.
  /// - Returns: The address; nil for none.
  /// - Throws: `LMDBError` if LMDB fails, and the error of the closure.
  package borrowing func firstAddress(
    of digest: UInt64, forKey key: IndexKey, in index: IndexDatabase,
    where isSought: (UInt64) throws(LMDBError) -> Bool
  ) throws(LMDBError) -> UInt64? {
    precondition(digest <= IndexItem.greatestDigest, "a digest of an index has at most 48 bits")
    var refused = 0
    // The transaction keeps its environment and its snapshot open.
    if let name = index.name, let pages = unsafe environment._withUnsafeGuaranteedRef({ unsafe $0.map.pages }) {
      var items = unsafe pages.items(of: digest, key: key, in: name, snapshot: UInt64(number))
      search: while true {
        switch unsafe items.step() {
        case .address(let address):
          if try isSought(address) { return address }
          refused += 1
        case .end: return nil
        case .unknown: break search
        }
      }
    }
    return try firstAddressByLMDB(of: digest, forKey: key, in: index, skipping: refused, where: isSought)
  }

  /// Continues the search with LMDB, after the items that the closure has refused. Their order in a snapshot is fixed.
  @inline(never)
  private borrowing func firstAddressByLMDB(
    of digest: UInt64, forKey key: IndexKey, in index: IndexDatabase, skipping refused: Int,
    where isSought: (UInt64) throws(LMDBError) -> Bool
  ) throws(LMDBError) -> UInt64? {
    learnPages(from: key, in: index)
    var cursor = try cursor(forKey: key, in: index)
    var rest = refused
    var isAtItem = try cursor.move(toFirstFrom: digest)
    while isAtItem, let item = cursor.item, item.digest == digest {
      if rest > 0 { rest -= 1 } else if try isSought(item.address) { return item.address }
      isAtItem = try cursor.moveToNext()
    }
    return nil
  }

  /// Learns the location of the map from the first item of the key, if it is still unknown.
  private borrowing func learnPages(from key: IndexKey, in index: IndexDatabase) {
    unsafe environment._withUnsafeGuaranteedRef { environment in
      guard environment.map.canLearn else { return }
      let value = unsafe key.withBytes { bytes in
        // A failed lookup teaches nothing. The search itself reports the error.
        unsafe try? lookUp(RawSpan(_unsafeBytes: bytes), in: index.index, of: handle)
      }
      guard let value = unsafe value else { return }
      let bytes = unsafe UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size)
      unsafe environment.map.learn(from: bytes, of: environment.handle)
    }
  }
}
