/// A branch or leaf page of a tree. Node offsets grow from its head, and nodes from its end. The space between them
/// is free.
///
/// A page of items has no nodes. Its items follow its header, and free space follows the items.
struct TreePage: ~Escapable {
  /// The number of bytes before the node offsets.
  static let headerSize = 16
  /// The offset of the size of items, in pages of items.
  static let itemSizePlace = 8
  static let kindPlace = 10
  /// The offset of the number that tells where the node offsets end and the free space begins.
  static let lowerPlace = 12

  enum Kind: UInt16 {
    case branch = 0x01
    case leaf = 0x02
    case overflow = 0x04
    /// A leaf of a tree of items.
    case items = 0x22
    /// Items within the value of a node.
    case nestedItems = 0x62
  }

  /// The flag of a page that its transaction has changed. LMDB clears it in pages of the file, but not in nested ones.
  static let changedFlag: UInt16 = 0x10

  let number: UInt64
  let kind: Kind
  let bytes: RawSpan
  /// The number of nodes or items.
  let count: Int
  /// The offset of the first node in memory order. In a page of items, it has no other meaning than the number of
  /// items.
  let upper: Int

  /// Throws if the page has another number or kind, or an invalid number of nodes or items.
  @_lifetime(copy bytes)
  init(_ bytes: RawSpan, number: UInt64, kind: Kind, fewest: Int) throws(DataFileDamage) {
    try TreePage.requireKind(kind, number, bytes)
    try self.init(bytes, number: number, checked: kind, fewest: fewest)
  }

  /// Creates the page of items within a value of the page `number`. Its own page number has no meaning.
  @_lifetime(copy bytes)
  init(nested bytes: RawSpan, number: UInt64) throws(DataFileDamage) {
    guard bytes.byteCount > TreePage.headerSize,
      bytes.number(at: TreePage.kindPlace, as: UInt16.self) & ~TreePage.changedFlag == Kind.nestedItems.rawValue
    else { throw DataFileDamage(page: number, "its items of a key are not a page of items") }
    try self.init(bytes, number: number, checked: .nestedItems, fewest: 1)
  }

  @_lifetime(copy bytes)
  private init(_ bytes: RawSpan, number: UInt64, checked kind: Kind, fewest: Int) throws(DataFileDamage) {
    let lower = Int(bytes.number(at: TreePage.lowerPlace, as: UInt16.self))
    let upper = Int(bytes.number(at: 14, as: UInt16.self))
    guard lower >= TreePage.headerSize, lower & 1 == 0, lower <= upper, upper <= bytes.byteCount else {
      throw DataFileDamage(page: number, "its free space has the invalid range \(lower) to \(upper)")
    }
    let count = (lower - TreePage.headerSize) / 2
    guard count >= fewest else { throw DataFileDamage(page: number, "it has only \(count) nodes") }
    if kind == .items || kind == .nestedItems {
      // LMDB counts the offset of a node for each item, although items have none.
      guard bytes.number(at: TreePage.itemSizePlace, as: UInt16.self) == IndexItem.size,
        upper == bytes.byteCount - count * (IndexItem.size - 2)
      else { throw DataFileDamage(page: number, "its items have an invalid size or number") }
    }
    self.number = number
    self.kind = kind
    self.bytes = bytes
    self.count = count
    self.upper = upper
  }

  /// Throws if the page has another number or kind.
  static func requireKind(_ kind: Kind, _ number: UInt64, _ bytes: RawSpan) throws(DataFileDamage) {
    let own = bytes.number(at: 0, as: UInt64.self)
    guard own == number else { throw DataFileDamage(page: number, "its header states the page number \(own)") }
    let flags = bytes.number(at: TreePage.kindPlace, as: UInt16.self)
    guard flags == kind.rawValue else {
      throw DataFileDamage(page: number, "it must be a page of kind \(kind), but has the flags \(flags)")
    }
  }

  /// Returns the offset of a node. It is in bounds only after the tiling was checked.
  func place(_ index: Int) -> Int { Int(bytes.number(at: TreePage.headerSize + 2 * index, as: UInt16.self)) }

  /// Returns a node. The tiling of the page must have been checked.
  func node(_ index: Int) -> TreeNode { TreeNode(bytes, at: place(index)) }

  /// Returns the key of a node, or an item. The tiling of a page with nodes must have been checked.
  @_lifetime(copy self)
  func key(_ index: Int) -> RawSpan {
    if kind == .items || kind == .nestedItems {
      let start = TreePage.headerSize + index * IndexItem.size
      return bytes.extracting(start..<start + IndexItem.size)
    }
    let node = node(index)
    return bytes.extracting(node.keyOffset..<node.keyOffset + node.keySize)
  }
}
