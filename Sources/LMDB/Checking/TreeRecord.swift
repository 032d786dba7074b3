/// What LMDB notes of one tree of pages: in the meta pages for the free list and the table without a name, under a name
/// for every other table.
struct TreeRecord {
  static let size = 48
  static let rootPlace = 40
  /// The deepest tree that LMDB's cursors follow.
  static let greatestDepth = 32
  /// What stands for a root where there is none.
  static let noPage = UInt64.max
  /// The flag of a table whose keys are numbers; the only one that this layer creates tables with.
  static let integerKeys: UInt16 = 0x08

  let flags: UInt16
  let depth: Int
  let root: UInt64
  let totals: TreeTotals

  /// The record at `offset`, where there must be `size` bytes.
  init(_ bytes: RawSpan, at offset: Int) {
    flags = bytes.number(at: offset + 4, as: UInt16.self)
    depth = Int(bytes.number(at: offset + 6, as: UInt16.self))
    root = bytes.number(at: offset + TreeRecord.rootPlace, as: UInt64.self)
    totals = TreeTotals(
      branches: bytes.number(at: offset + 8, as: UInt64.self), leaves: bytes.number(at: offset + 16, as: UInt64.self),
      overflows: bytes.number(at: offset + 24, as: UInt64.self),
      entries: bytes.number(at: offset + 32, as: UInt64.self))
  }

  var hasIntegerKeys: Bool { flags & TreeRecord.integerKeys != 0 }
}

/// How many pages of each kind a tree has, and how many entries.
struct TreeTotals: Equatable {
  var branches: UInt64 = 0
  var leaves: UInt64 = 0
  /// The pages of values that have pages of their own.
  var overflows: UInt64 = 0
  var entries: UInt64 = 0
}
