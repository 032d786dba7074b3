import CLMDB

extension WriteTransaction {
  /// Changes a part of a value that this transaction has stored in separate pages. O(log n).
  ///
  /// LMDB has such a value in memory until the commit, and writes it then. An abort discards it.
  ///
  /// - Parameters:
  ///   - bytes: The new bytes.
  ///   - offset: Their offset in the value.
  ///   - key: The key of the value.
  ///   - database: The database.
  /// - Returns: Whether the transaction has stored such a value under the key, and the value contains the part.
  /// - Throws: ``LMDBError`` if the look-up fails.
  package mutating func write(
    _ bytes: RawSpan, at offset: Int, ofNewValueForKey key: UInt, in database: IntegerDatabase
  ) throws(LMDBError) -> Bool {
    guard let value = unsafe try lookUp(key, in: database.index, of: handle), let start = unsafe value.mv_data,
      let pageSize = unsafe PageMap.pageSize(of: environment.takeUnretainedValue().handle)
    else { return false }
    let size = unsafe value.mv_size
    // A value of more than half a page has separate pages, and their header precedes it.
    guard size > pageSize / 2, offset >= 0, offset <= size, bytes.byteCount <= size - offset else { return false }
    let header = unsafe start - TreePage.headerSize
    let flags = unsafe header.loadUnaligned(fromByteOffset: TreePage.kindPlace, as: UInt16.self)
    // The pages of a committed value are in the map, which is read-only.
    guard flags == TreePage.Kind.overflow.rawValue | TreePage.changedFlag else { return false }
    unsafe bytes.withUnsafeBytes { bytes in
      guard let source = bytes.baseAddress else { return }
      unsafe (start + offset).copyMemory(from: source, byteCount: bytes.count)
    }
    return true
  }
}
