import CisternCore

/// The layout of a record in an extent, or of one that is a separate value. Numbers are little-endian and unaligned.
///
///      0  checksum of all bytes from offset 4, combined with the record's address
///      4  time of creation
///     12  size without the zeros at the end, three bytes     15  size of the key
///     16  flags, two bytes: the optional fields that are present, and whether the value is a negative result
///     18  number of the partition, two bytes
///     20  optional fields, see ``RecordFields``; then the tags, the key, the value, and zeros up to a multiple of four
///
/// A key of more than 255 bytes has its length among the optional fields, and the byte at offset 15 is zero. The size
/// is that of a record in an extent; of a larger record, which is a separate value, the field has the low 24 bits.
enum PackedRecordFormat {
  /// The size of the fields that every record has.
  static let headerSize = 20
  /// The size of the longest key without an optional field.
  static let longestShortKey = 255

  private static let seed: UInt64 = 0x5be0_cd19_137e_2179

  /// Returns the number of bytes from a record's first byte to the next record.
  static func room(for size: Int) -> Int { ExtentLayout.room(for: size) }

  /// Returns the cost of a value in a cache without a weigher. Records do not store it.
  @inline(__always)
  static func defaultCost(ofValueSize size: Int) -> UInt32 { UInt32(clamping: max(1, size)) }

  /// Returns the checksum of a record at an address. The span has the record and its zeros.
  ///
  /// A record at another address has another checksum. This detects swapped pages and items of the index that lead to
  /// the wrong record.
  @inline(__always)
  static func checksum(of record: RawSpan, at address: RecordAddress) -> UInt32 {
    let sum = Checksum.of(record.extracting(4..<record.byteCount), seed: seed)
    return UInt32(truncatingIfNeeded: sum) ^ mix(address)
  }

  /// Writes the checksum. All other bytes of the record must be final.
  @_lifetime(record: copy record)
  static func seal(_ record: inout MutableRawSpan, at address: RecordAddress) {
    let sum = checksum(of: record.bytes, at: address)
    record.storeBytes(of: sum.littleEndian, toByteOffset: 0, as: UInt32.self)
  }

  /// Changes the checksum of a copied record to its new address, without a look at its other bytes.
  ///
  /// A record with a wrong checksum keeps a wrong one.
  @_lifetime(record: copy record)
  static func move(_ record: inout MutableRawSpan, from old: RecordAddress, to new: RecordAddress) {
    let sum = record.bytes.integer(at: 0, as: UInt32.self) ^ mix(old) ^ mix(new)
    record.storeBytes(of: sum.littleEndian, toByteOffset: 0, as: UInt32.self)
  }

  /// Returns a number of 32 bits that differs between addresses in each of its bits.
  @inline(__always)
  private static func mix(_ address: RecordAddress) -> UInt32 {
    // The multiplication spreads each bit of the address upwards, and the shift takes the bits that all others reach.
    let product = (address.bits ^ 0x2545_f491_4f6c_dd1d) &* 0x9fb2_1c65_1e98_df25
    return UInt32(truncatingIfNeeded: (product ^ product >> 29) >> 32)
  }
}
