/// The records of a partition that an invalidation concerns.
public enum Invalidation: Sendable, Hashable {
  /// The records with the tag.
  case tag(String)
  /// The records whose key's bytes begin with the prefix.
  case prefix([UInt8])
}

extension Invalidation {
  /// Returns whether the invalidation concerns a record with this key and these tags.
  ///
  /// - Parameters:
  ///   - key: The bytes of the record's key.
  ///   - tags: The tags of the record.
  /// - Returns: Whether the record has the tag, or its key begins with the prefix.
  @inlinable
  public func concerns(key: [UInt8], tags: [String]) -> Bool {
    switch self {
    case .tag(let tag): tags.contains(tag)
    case .prefix(let prefix): key.starts(with: prefix)
    }
  }
}
