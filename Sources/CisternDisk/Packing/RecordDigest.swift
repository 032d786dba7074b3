/// The part of a key by which the index finds its record: a checksum of 48 bits.
///
/// Different keys can have equal digests. A digest does not depend on the generation. The records of an extent
/// therefore have the same order by their digests in all processes.
struct RecordDigest: Sendable, Hashable, Comparable {
  static let bitCount = 48
  private static let seed: UInt64 = 0x9b05_688c_2b3e_6c1f

  /// The digest, for the items of the index.
  let bits: UInt64

  /// The digest below all others.
  static var zero: RecordDigest { RecordDigest(lowBits: 0) }

  init(of key: RawSpan) {
    bits = Checksum.of(key, seed: Self.seed) >> UInt64(64 - Self.bitCount)
  }

  /// Creates a digest from the low 48 bits of a number.
  init(lowBits: UInt64) {
    bits = lowBits & (1 << UInt64(Self.bitCount) - 1)
  }

  /// Reads a digest of six big-endian bytes. Returns nil for another number of bytes.
  init?(_ bytes: RawSpan) {
    guard bytes.byteCount == Self.bitCount / 8 else { return nil }
    self.init(lowBits: (0..<bytes.byteCount).reduce(0) { $0 << 8 | UInt64(bytes.byte(at: $1)) })
  }

  /// The digest as six big-endian bytes, whose order is that of digests.
  var bytes: [UInt8] { (0..<6).map { UInt8(truncatingIfNeeded: bits >> UInt64(40 - 8 * $0)) } }

  static func < (left: RecordDigest, right: RecordDigest) -> Bool { left.bits < right.bits }
}
