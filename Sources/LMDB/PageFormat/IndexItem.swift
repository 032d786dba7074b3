/// An item of an index: a digest, and the address of something that has this digest.
///
/// In the file, an item has 12 bytes: the digest and the address as big-endian numbers of six bytes.
package struct IndexItem: Sendable, Hashable {
  /// The number of bytes of an item in the file.
  static let size = 12
  /// The greatest digest.
  package static let greatestDigest: UInt64 = (1 << IndexKey.bitCount) - 1

  package let digest: UInt64
  package let address: UInt64

  /// Creates an item from two numbers of at most 48 bits.
  ///
  /// - Precondition: The address is not zero. A search begins before an item with the address zero, so it could miss
  ///   the items of this digest in the page before.
  package init(digest: UInt64, address: UInt64) {
    precondition(digest <= Self.greatestDigest, "a digest of an index has at most 48 bits")
    precondition(address > 0 && address >> IndexKey.bitCount == 0, "an address of an index has 1 to 48 bits")
    self.digest = digest
    self.address = address
  }

  /// Reads an item of the file, or returns nil if the number of bytes is wrong. A damaged file may have any address.
  init?(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count == Self.size else { return nil }
    // In bounds: the item has 12 bytes, and the last number ends with it.
    digest = UInt64(bigEndian: unsafe bytes.loadUnaligned(as: UInt64.self)) >> 16
    address =
      UInt64(bigEndian: unsafe bytes.loadUnaligned(fromByteOffset: 4, as: UInt64.self)) & Self.greatestDigest
  }

  /// Calls `body` with the bytes of an item, as they are in the file.
  static func withBytes<Result>(
    digest: UInt64, address: UInt64, _ body: (UnsafeRawBufferPointer) -> Result
  ) -> Result {
    let words: InlineArray<3, UInt32> = [
      UInt32(truncatingIfNeeded: digest >> 16).bigEndian,
      UInt32(truncatingIfNeeded: digest << 16 | address >> 32).bigEndian,
      UInt32(truncatingIfNeeded: address).bigEndian,
    ]
    return unsafe withUnsafeBytes(of: words) { unsafe body($0) }
  }
}
