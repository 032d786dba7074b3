import CisternCore

/// The layout of a record in the file. Numbers are little-endian and unaligned.
///
///      0  checksum of the file key and of all bytes from offset 8
///      8  format version          9  zero
///     10  flags, two bytes: the optional fields that are present, and whether the value is a negative result
///     12  cost                   16  sequence number
///     24  time of creation
///     32  optional, in this order: windows within the grace (8 each), expiration time (8), grace (8), time to idle (8), last access time (8),
///         refresh ahead (8), invalidation version (8), schema version (4), length of the tags (4), of the key (4);
///         then the tags, the key if the file key is only its digest, and the value's bytes up to the end
package enum RecordFormat {
  /// The format version that this code writes. It is also the only version that this code reads.
  static let version: UInt8 = 2
  /// The size of the fields that every record has.
  package static let fixedSize = 32
  static let sequenceOffset = 16

  private static let keySeed: UInt64 = 0x2545_f491_4f6c_dd1d

  /// Returns the checksum of the record under `key`.
  @inline(__always)
  static func checksum(of record: RawSpan, under key: RawSpan) -> UInt64 {
    checksum(of: record, seed: seed(of: key))
  }

  /// Returns the checksum seed of records under `key`.
  @inline(__always)
  static func seed(of key: RawSpan) -> UInt64 { Checksum.of(key, seed: keySeed) }

  @inline(__always)
  static func checksum(of record: RawSpan, seed: UInt64) -> UInt64 {
    Checksum.of(record.extracting(8..<record.byteCount), seed: seed)
  }
}
