/// One of the two meta pages at the head of the file. The one with the greater transaction number is current.
struct MetaPage {
  /// The number of bytes that a meta page uses.
  static let size = 152
  /// The offset of the two tree records, where the description of a state begins.
  static let treesPlace = 40
  // Lookups in the mapped pages also use these offsets.
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
  /// The last page that is in use or free. Pages after it are meaningless.
  let lastPage: UInt64
  let freeList: TreeRecord
  let main: TreeRecord

  /// Parses the first `size` bytes of a meta page, which must have the page number `number`.
  init(_ bytes: RawSpan, number: UInt64) throws(DataFileDamage) {
    guard bytes.number(at: 16, as: UInt32.self) == MetaPage.magic,
      bytes.number(at: 20, as: UInt32.self) == MetaPage.version
    else {
      if number == 0 { throw DataFileDamage("the file is not an LMDB file, or has another format version") }
      throw DataFileDamage(page: number, "it is not a meta page")
    }
    guard bytes.number(at: 0, as: UInt64.self) == number, bytes.number(at: 10, as: UInt16.self) == MetaPage.flags else {
      throw DataFileDamage(page: number, "its header does not state that it is a meta page")
    }
    pageSize = Int(bytes.number(at: 40, as: UInt32.self))
    guard (MetaPage.smallestPageSize...MetaPage.greatestPageSize).contains(pageSize), pageSize & (pageSize - 1) == 0
    else { throw DataFileDamage(page: number, "it states the invalid page size \(pageSize)") }
    freeList = TreeRecord(bytes, at: 40)
    main = TreeRecord(bytes, at: MetaPage.mainPlace)
    lastPage = bytes.number(at: MetaPage.lastPagePlace, as: UInt64.self)
    guard lastPage >= 1, lastPage < 1 << 47 else {
      throw DataFileDamage(page: number, "it states the invalid last page \(lastPage)")
    }
    transaction = bytes.number(at: MetaPage.transactionPlace, as: UInt64.self)
  }

  /// Returns the meta page that LMDB uses, after checking both pages of the file.
  static func newest(_ reader: inout DataFileReader) throws(DataFileDamage) -> MetaPage {
    guard reader.size >= size else { throw DataFileDamage("the file is truncated: it has \(reader.size) bytes") }
    let head = try reader.bytes(size, of: 0, at: 0)
    let first = try MetaPage(head.checkedBytes, number: 0)
    guard reader.size >= 2 * first.pageSize else {
      throw DataFileDamage("the file is truncated: it has \(reader.size) bytes")
    }
    reader.pageSize = first.pageSize
    let next = try reader.bytes(size, of: 1, at: 0)
    let second = try MetaPage(next.checkedBytes, number: 1)
    guard second.pageSize == first.pageSize else {
      throw DataFileDamage(page: 1, "it states the page size \(second.pageSize), unlike page 0")
    }
    let isSecond = second.transaction > first.transaction
    let newest = isSecond ? second : first
    // LMDB writes the two pages alternately, and selects one by the lowest bit of the transaction number.
    guard newest.transaction & 1 == (isSecond ? 1 : 0), newest.transaction < 1 << 62 else {
      throw DataFileDamage(page: isSecond ? 1 : 0, "it states the invalid transaction \(newest.transaction)")
    }
    return newest
  }
}
