/// A branch or leaf page of a tree. Node offsets grow from its head, and nodes from its end. The space between them
/// is free.
struct TreePage: ~Escapable {
  /// The number of bytes before the node offsets.
  static let headerSize = 16
  static let kindPlace = 10
  /// The offset of the number that tells where the node offsets end and the free space begins.
  static let lowerPlace = 12

  enum Kind: UInt16 {
    case branch = 0x01
    case leaf = 0x02
    case overflow = 0x04
  }

  let number: UInt64
  let kind: Kind
  let bytes: RawSpan
  /// The number of nodes.
  let count: Int
  /// The offset of the first node in memory order.
  let upper: Int

  /// Throws if the page has another number or kind, or an invalid number of nodes.
  @_lifetime(copy bytes)
  init(_ bytes: RawSpan, number: UInt64, kind: Kind, fewest: Int) throws(DataFileDamage) {
    try TreePage.requireKind(kind, number, bytes)
    let lower = Int(bytes.number(at: TreePage.lowerPlace, as: UInt16.self))
    let upper = Int(bytes.number(at: 14, as: UInt16.self))
    guard lower >= TreePage.headerSize, lower & 1 == 0, lower <= upper, upper <= bytes.byteCount else {
      throw DataFileDamage(page: number, "its free space has the invalid range \(lower) to \(upper)")
    }
    let count = (lower - TreePage.headerSize) / 2
    guard count >= fewest else { throw DataFileDamage(page: number, "it has only \(count) nodes") }
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

  /// Returns the key of a node of this page.
  @_lifetime(copy self)
  func key(_ node: TreeNode) -> RawSpan {
    bytes.extracting(node.keyOffset..<node.keyOffset + node.keySize)
  }
}

/// The header of a node. It contains the child's page number in a branch, and the value's size in a leaf.
struct TreeNode {
  static let headerSize = 8
  static let flagsPlace = 4
  static let keySizePlace = 6
  static let ownPagesFlag: UInt16 = 1
  static let tableFlag: UInt16 = 2
  static let longestKey = 511

  let offset: Int
  let flags: UInt16
  let keySize: Int
  private let low: UInt32

  /// Reads the node at `offset`, which must be followed by at least `headerSize` bytes.
  init(_ bytes: RawSpan, at offset: Int) {
    self.offset = offset
    low = bytes.number(at: offset, as: UInt32.self)
    flags = bytes.number(at: offset + TreeNode.flagsPlace, as: UInt16.self)
    keySize = Int(bytes.number(at: offset + TreeNode.keySizePlace, as: UInt16.self))
  }

  var child: UInt64 { UInt64(low) | UInt64(flags) << 32 }
  var valueSize: Int { Int(low) }
  var keyOffset: Int { offset + TreeNode.headerSize }
  var valueOffset: Int { keyOffset + keySize }

  /// Returns the number of bytes that the node takes in a page of the kind.
  func size(in kind: TreePage.Kind) -> Int {
    let value = kind == .branch ? 0 : flags & TreeNode.ownPagesFlag != 0 ? 8 : valueSize
    return (TreeNode.headerSize + keySize + value + 1) & ~1
  }
}
