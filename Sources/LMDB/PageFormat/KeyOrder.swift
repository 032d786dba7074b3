/// The order of the keys in a database.
enum KeyOrder {
  case bytes
  case numbers
  /// The order of an index: by the digests at the start of the items. Items with equal digests have no order.
  case items

  /// Throws if a key cannot have this length.
  func requireLength(_ length: Int, page: UInt64) throws(DataFileDamage) {
    let isPossible =
      switch self {
      case .bytes: (1...TreeNode.longestKey).contains(length)
      case .numbers: length == MemoryLayout<UInt64>.size
      case .items: length == IndexItem.size
      }
    if !isPossible { throw DataFileDamage(page: page, "it has a key with the invalid length \(length)") }
  }

  /// Returns whether one key is less than the other. Both must have a valid length.
  func isBefore(_ left: RawSpan, _ right: RawSpan) -> Bool {
    switch self {
    case .bytes: left.comesBefore(right)
    case .numbers: left.number(at: 0, as: UInt64.self) < right.number(at: 0, as: UInt64.self)
    case .items: left.digest < right.digest
    }
  }

  /// Returns whether one key may precede the other. With `orEqual`, the keys may be equal in any order.
  func allows(_ left: RawSpan, before right: RawSpan, orEqual: Bool = false) -> Bool {
    if case .items = self { return !isBefore(right, left) }
    return orEqual ? !isBefore(right, left) : isBefore(left, right)
  }
}

extension RawSpan {
  /// The digest of an item, which is a big-endian number of six bytes.
  fileprivate var digest: UInt64 { UInt64(bigEndian: number(at: 0, as: UInt64.self)) >> 16 }
}
