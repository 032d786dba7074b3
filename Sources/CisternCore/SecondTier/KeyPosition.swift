/// The place of a key in the order of an enumeration.
///
/// Keys that the tier stores under a digest follow all other keys. The order within each group is bytewise.
@usableFromInline
package struct KeyPosition: Sendable, Hashable, Comparable {
  /// Whether ``bytes`` are a digest.
  @usableFromInline package let isDigest: Bool
  /// The bytes of the key, or its digest.
  @usableFromInline package let bytes: [UInt8]

  @usableFromInline
  package init(isDigest: Bool = false, bytes: [UInt8]) {
    self.isDigest = isDigest
    self.bytes = bytes
  }

  /// Whether a key that is stored under itself follows.
  package func precedes(_ key: RawSpan) -> Bool { !isDigest && bytes.rawSpan.precedes(key) }

  @usableFromInline
  package static func < (left: KeyPosition, right: KeyPosition) -> Bool {
    if left.isDigest != right.isDigest { return right.isDigest }
    return left.bytes.rawSpan.precedes(right.bytes.rawSpan)
  }
}
