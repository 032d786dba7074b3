/// The order of the keys in a database.
enum KeyOrder {
  case bytes
  case numbers

  /// Throws if a key cannot have this length.
  func requireLength(_ length: Int, page: UInt64) throws(DataFileDamage) {
    let isPossible =
      switch self {
      case .bytes: (1...TreeNode.longestKey).contains(length)
      case .numbers: length == MemoryLayout<UInt64>.size
      }
    if !isPossible { throw DataFileDamage(page: page, "it has a key with the invalid length \(length)") }
  }

  /// Returns whether one key is less than the other. Both must have a valid length.
  func isBefore(_ left: RawSpan, _ right: RawSpan) -> Bool {
    switch self {
    case .bytes: left.comesBefore(right)
    case .numbers: left.number(at: 0, as: UInt64.self) < right.number(at: 0, as: UInt64.self)
    }
  }
}
