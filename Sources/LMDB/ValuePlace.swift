import CSupport

/// The place of a value in the data file. No other data shares the pages of the value.
///
/// The place stays the same until the value is replaced or removed. It is valid only with its environment, while that
/// is open.
@usableFromInline
package struct ValuePlace: Sendable, Hashable {
  /// The first page of the value. The page begins with LMDB's header.
  package let page: UInt64
  /// The offset of the value's first byte in the file.
  package let fileOffset: Int
  /// The size of the value.
  package let byteCount: Int
  /// The address of the map that contains the value. Another environment has another map.
  let map: UInt

  init(page: UInt64, byteCount: Int, in pages: MappedPages) {
    self.page = page
    self.byteCount = byteCount
    fileOffset = unsafe Int(page &<< pages.shift) + TreePage.headerSize
    map = unsafe UInt(bitPattern: pages.start)
  }

  /// Returns whether the value contains the range.
  func contains(_ count: Int, at offset: Int) -> Bool {
    offset >= 0 && count >= 0 && offset <= byteCount && count <= byteCount - offset
  }
}

extension Transaction where Self: ~Copyable, Self: ~Escapable {
  /// Returns the place of the key's value. O(log n).
  ///
  /// The result is nil in these cases:
  /// - The key is absent.
  /// - The value shares its page with others. A value of more than half a page has its own pages.
  /// - This transaction stored the value, so its pages are not in the file yet.
  /// - The size of the file's pages differs from the system's, so the location of the map is not known.
  package borrowing func place(
    ofValueForKey key: UInt, in database: IntegerDatabase
  ) throws(LMDBError) -> ValuePlace? {
    guard let value = unsafe try lookUp(key, in: database.index, of: handle) else { return nil }
    let bytes = unsafe UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size)
    return unsafe environment._withUnsafeGuaranteedRef { unsafe $0.map.place(of: bytes, in: $0.handle) }
  }
}

extension ReadTransaction {
  /// Returns a part of a value at a place that was learned earlier, in any snapshot. O(1), without a lookup.
  ///
  /// The result is nil if the part is not within the value, or if the place belongs to another environment. The caller
  /// ensures that the value was not removed since. The bytes are those that were written last, even if that was after
  /// the snapshot.
  @_lifetime(borrow self)
  package borrowing func bytes(at place: ValuePlace, offset: Int, count: Int) -> RawSpan? {
    guard let start = unsafe address(at: place, offset: offset, count: count) else { return nil }
    let span = unsafe RawSpan(_unsafeStart: start, byteCount: count)
    return unsafe _overrideLifetime(span, borrowing: self)
  }

  /// Begins to load a part of a value at a place, one cache line after another. Has no effect outside of the value.
  package borrowing func prefetch(at place: ValuePlace, offset: Int, count: Int) {
    guard let start = unsafe address(at: place, offset: offset, count: count) else { return }
    for line in stride(from: 0, to: count, by: 64) { unsafe cistern_prefetch(start + line) }
  }

  private borrowing func address(at place: ValuePlace, offset: Int, count: Int) -> UnsafeRawPointer? {
    let pages = unsafe environment._withUnsafeGuaranteedRef { unsafe $0.map.pages }
    guard let pages = unsafe pages, unsafe UInt(bitPattern: pages.start) == place.map,
      place.contains(count, at: offset)
    else { return nil }
    // In bounds: the file contained the value's pages when the place was learned, and it never becomes shorter.
    return unsafe pages.start + (place.fileOffset + offset)
  }
}

extension PageMap {
  /// Returns the place of a value that LMDB returned, or nil like `place(ofValueForKey:in:)`.
  func place(of value: UnsafeRawBufferPointer, in environment: OpaquePointer) -> ValuePlace? {
    guard let data = value.baseAddress, let size = unsafe PageMap.pageSize(of: environment),
      value.count > size / 2
    else { return nil }
    // In bounds: a page's header precedes such a value, and at least a node's header precedes any other in its page.
    let header = unsafe data - TreePage.headerSize
    // The pages of a value that this transaction stored have one more flag. They are not in the map.
    guard
      unsafe header.loadUnaligned(fromByteOffset: TreePage.kindPlace, as: UInt16.self)
        == TreePage.Kind.overflow.rawValue
    else { return nil }
    unsafe learn(from: value, of: environment)
    guard let pages = unsafe pages else { return nil }
    let number = unsafe header.loadUnaligned(as: UInt64.self)
    let count = unsafe Int(header.loadUnaligned(fromByteOffset: TreePage.lowerPlace, as: UInt32.self))
    // A damaged header must not lead to other pages.
    guard unsafe header >= pages.start, number > 1,
      // A shift of the number would drop its upper bits.
      unsafe (header - pages.start).quotientAndRemainder(dividingBy: size) == (Int(truncatingIfNeeded: number), 0),
      count >= (TreePage.headerSize + value.count + size - 1) / size
    else { return nil }
    return unsafe ValuePlace(page: number, byteCount: value.count, in: pages)
  }
}
