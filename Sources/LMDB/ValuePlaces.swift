/// The places of values of one size that stay where they are, for reads without a lookup. See ``PlaceTable``.
///
/// Like the handle of a database, it is valid only with its environment. It is trivial to copy, because each read of a
/// record does so.
@safe
package struct ValuePlaces: Sendable {
  /// The number of bytes of a value. Others are looked up.
  package let byteCount: Int
  let database: IntegerDatabase
  // The environment retains the table, and outlives its transactions.
  private let table: Unmanaged<PlaceTable>

  fileprivate init(_ table: PlaceTable) {
    byteCount = table.byteCount
    database = table.database
    unsafe self.table = Unmanaged.passUnretained(table)
  }

  /// Returns the first page of the key's value, or zero if the table does not have it or is of another environment.
  @inline(__always)
  fileprivate func page(of key: UInt, in environment: Unmanaged<Environment>) -> UInt64 {
    unsafe table._withUnsafeGuaranteedRef { table in
      unsafe table.environment == environment.toOpaque() ? table.page(of: key) : 0
    }
  }

  fileprivate func note(_ page: UInt64, of key: UInt, in environment: Unmanaged<Environment>) {
    unsafe table._withUnsafeGuaranteedRef { table in
      if unsafe table.environment == environment.toOpaque() { table.note(page, of: key) }
    }
  }
}

extension Environment {
  /// Returns the places of the values of a database. Each call with the same database and size returns the same places.
  ///
  /// - Parameters:
  ///   - database: The database. No value of this size may ever move, and no key may be used again.
  ///   - byteCount: The size of the values. Other values of the database can do as they like.
  ///   - capacity: The number of values to expect. The table has at most 2²⁰ slots.
  /// - Returns: The places.
  package func places(of database: IntegerDatabase, byteCount: Int, capacity: Int) -> ValuePlaces {
    placeTables.withLock { tables in
      if let known = tables.first(where: { $0.database == database && $0.byteCount == byteCount }) {
        return ValuePlaces(known)
      }
      let table = PlaceTable(of: database, self, byteCount: byteCount, capacity: capacity)
      tables.append(table)
      return ValuePlaces(table)
    }
  }
}

extension ReadTransaction {
  /// Returns the bytes of the key's value from an offset to its end, or nil if the key is absent or the value shorter.
  /// O(1) for most keys.
  ///
  /// If the value was removed since the table learned its place, the bytes are arbitrary ones of the file. The bytes
  /// are those that were written last, even if that was after the snapshot.
  @_lifetime(borrow self)
  package borrowing func bytes(
    ofValueForKey key: UInt, from offset: Int, at places: ValuePlaces
  ) throws(LMDBError) -> RawSpan? {
    let page = unsafe places.page(of: key, in: environment)
    guard page > 0, offset >= 0, offset <= places.byteCount,
      let pages = unsafe environment._withUnsafeGuaranteedRef({ unsafe $0.map.pages })
    else { return try bytesByLMDB(ofValueForKey: key, from: offset, at: places) }
    // In bounds: the file contained the value's pages when the place was learned, and it never becomes shorter.
    let start = unsafe pages.page(page) + (TreePage.headerSize + offset)
    let span = unsafe RawSpan(_unsafeStart: start, byteCount: places.byteCount - offset)
    return unsafe _overrideLifetime(span, borrowing: self)
  }

  /// Looks up the value with LMDB, and learns its place.
  @inline(never)
  @_lifetime(borrow self)
  private borrowing func bytesByLMDB(
    ofValueForKey key: UInt, from offset: Int, at places: ValuePlaces
  ) throws(LMDBError) -> RawSpan? {
    guard let value = try value(forKey: key, in: places.database), offset >= 0, offset <= value.byteCount else {
      return nil
    }
    // A shorter value can be the last one of the file, so nothing may be read behind it.
    if value.byteCount == places.byteCount, let place = try place(ofValueForKey: key, in: places.database) {
      unsafe places.note(place.page, of: key, in: environment)
    }
    return value.extracting(offset..<value.byteCount)
  }
}
