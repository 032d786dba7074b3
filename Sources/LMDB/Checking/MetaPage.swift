/// One of the two pages at the file's head, of which the one with the greater transaction counts.
struct MetaPage {
  /// The bytes of a meta page that mean anything.
  static let size = 152
  /// The place of the first of its two trees, and of all that it says of a state.
  static let treesPlace = 40
  // Where it has what look-ups read, too.
  static let mainPlace = 88
  static let lastPagePlace = 136
  static let transactionPlace = 144
  static let smallestPageSize = 512
  private static let greatestPageSize = 32_768
  private static let magic: UInt32 = 0xBEEF_C0DE
  private static let version: UInt32 = 1
  private static let flags: UInt16 = 0x08

  let transaction: UInt64
  let pageSize: Int
  /// The last page that is in use or free; what is behind it is nothing.
  let lastPage: UInt64
  let freeList: TreeRecord
  let main: TreeRecord

  /// Reads the first `size` bytes of the page `number`.
  init(_ bytes: RawSpan, number: UInt64) throws(DataFileDamage) {
    guard bytes.number(at: 16, as: UInt32.self) == MetaPage.magic,
      bytes.number(at: 20, as: UInt32.self) == MetaPage.version
    else {
      if number == 0 { throw DataFileDamage("it is not a file of LMDB's, or of another version") }
      throw DataFileDamage(page: number, "it is not a meta page")
    }
    guard bytes.number(at: 0, as: UInt64.self) == number, bytes.number(at: 10, as: UInt16.self) == MetaPage.flags else {
      throw DataFileDamage(page: number, "it does not say that it is a meta page")
    }
    pageSize = Int(bytes.number(at: 40, as: UInt32.self))
    guard (MetaPage.smallestPageSize...MetaPage.greatestPageSize).contains(pageSize), pageSize & (pageSize - 1) == 0
    else { throw DataFileDamage(page: number, "it says that pages have \(pageSize) bytes") }
    freeList = TreeRecord(bytes, at: 40)
    main = TreeRecord(bytes, at: MetaPage.mainPlace)
    lastPage = bytes.number(at: MetaPage.lastPagePlace, as: UInt64.self)
    guard lastPage >= 1, lastPage < 1 << 47 else {
      throw DataFileDamage(page: number, "it says that page \(lastPage) is the last")
    }
    transaction = bytes.number(at: MetaPage.transactionPlace, as: UInt64.self)
  }

  /// The one that LMDB goes by, of both pages of a file.
  static func newest(_ reader: inout DataFileReader) throws(DataFileDamage) -> MetaPage {
    guard reader.size >= size else { throw DataFileDamage("it is cut off: it has \(reader.size) bytes") }
    let head = try reader.bytes(size, of: 0, at: 0)
    let first = try MetaPage(head.checkedBytes, number: 0)
    guard reader.size >= 2 * first.pageSize else { throw DataFileDamage("it is cut off: it has \(reader.size) bytes") }
    reader.pageSize = first.pageSize
    let next = try reader.bytes(size, of: 1, at: 0)
    let second = try MetaPage(next.checkedBytes, number: 1)
    guard second.pageSize == first.pageSize else {
      throw DataFileDamage(page: 1, "it says that pages have \(second.pageSize) bytes")
    }
    let isSecond = second.transaction > first.transaction
    let newest = isSecond ? second : first
    // LMDB writes them in turn, and finds the one of a transaction by that.
    guard newest.transaction & 1 == (isSecond ? 1 : 0), newest.transaction < 1 << 62 else {
      throw DataFileDamage(page: isSecond ? 1 : 0, "it cannot be of transaction \(newest.transaction)")
    }
    return newest
  }
}
