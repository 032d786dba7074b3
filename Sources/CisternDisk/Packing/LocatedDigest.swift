import CisternCore

/// An item of the index: the digest of a key, and the address of its record, as 12 big-endian bytes.
///
/// The items of a digest have no order, because a new address replaces an older one in place.
struct LocatedDigest: Sendable, Hashable {
  static let size = 12

  let digest: RecordDigest
  let address: RecordAddress

  init(digest: RecordDigest, address: RecordAddress) {
    self.digest = digest
    self.address = address
  }

  /// Reads an item. Returns nil if it does not have 12 bytes.
  init?(_ bytes: RawSpan) {
    guard bytes.byteCount == Self.size else { return nil }
    let high = bytes.integer(at: 0, as: UInt64.self).byteSwapped
    let low = bytes.integer(at: 4, as: UInt64.self).byteSwapped
    guard let address = RecordAddress(bits: low & (1 << UInt64(RecordAddress.bitCount) - 1)) else { return nil }
    digest = RecordDigest(lowBits: high >> 16)
    self.address = address
  }

  /// The item as the index has it.
  var bytes: [UInt8] {
    [digest.bits, address.bits].flatMap { bits in (0..<6).map { UInt8(truncatingIfNeeded: bits >> UInt64(40 - 8 * $0)) }
    }
  }
}
