/// The header of a node. It contains the child's page number in a branch, and the value's size in a leaf.
struct TreeNode {
  static let headerSize = 8
  static let flagsPlace = 4
  static let keySizePlace = 6
  static let ownPagesFlag: UInt16 = 1
  static let tableFlag: UInt16 = 2
  /// The flag of a node with several items. Their tree has `tableFlag` as well.
  static let itemsFlag: UInt16 = 4
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
