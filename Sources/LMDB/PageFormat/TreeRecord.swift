/// The record of one tree of pages. The meta pages contain those of the free list and of the unnamed database, which
/// contains all others.
struct TreeRecord {
  static let size = 48
  static let flagsPlace = 4
  static let rootPlace = 40
  /// The greatest depth that LMDB's cursors support.
  static let greatestDepth = 32
  /// The root of an empty tree.
  static let noPage = UInt64.max
  /// The flag of a database with integer keys.
  static let integerKeys: UInt16 = 0x08
  /// The flags of an index, whose keys have sorted items of one size. This layer creates no other databases.
  static let index: UInt16 = 0x14
  /// The flag of the tree that has the items of one key.
  static let items: UInt16 = 0x10

  /// The size of an item in a tree of items. It has no meaning in other trees.
  let itemSize: Int
  let flags: UInt16
  let depth: Int
  let root: UInt64
  let totals: TreeTotals

  /// Reads the record at `offset`, which must be followed by at least `size` bytes.
  init(_ bytes: RawSpan, at offset: Int) {
    itemSize = Int(bytes.number(at: offset, as: UInt32.self))
    flags = bytes.number(at: offset + TreeRecord.flagsPlace, as: UInt16.self)
    depth = Int(bytes.number(at: offset + 6, as: UInt16.self))
    root = bytes.number(at: offset + TreeRecord.rootPlace, as: UInt64.self)
    totals = TreeTotals(
      branches: bytes.number(at: offset + 8, as: UInt64.self), leaves: bytes.number(at: offset + 16, as: UInt64.self),
      overflows: bytes.number(at: offset + 24, as: UInt64.self),
      entries: bytes.number(at: offset + 32, as: UInt64.self))
  }
}
