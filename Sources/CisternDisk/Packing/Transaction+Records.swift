import LMDB

extension Transaction where Self: ~Copyable, Self: ~Escapable {
  /// Returns the bytes from a record's address to the end of its extent, or of the separate value. Nil if the file does
  /// not have the address. O(log n) for n extents.
  @_lifetime(borrow self)
  borrowing func bytes(at address: RecordAddress, in tables: FileTables) throws(LMDBError) -> RawSpan? {
    switch address.place(in: tables.limits.layout) {
    case .inExtent(let number, let offset)?:
      guard let value = try value(forKey: UInt(number.number), in: tables.extents),
        offset >= ExtentLayout.headerSize, offset - ExtentLayout.headerSize <= value.byteCount
      else { return nil }
      return value.extracting(offset - ExtentLayout.headerSize..<value.byteCount)
    case .separate(let number)?:
      return try value(
        forKey: UInt(ExtentRow.Key(SeparateNumber(number: number)).number), in: tables.extents)
    case nil: return nil
    }
  }
}
