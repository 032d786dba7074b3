/// The location of a record in the data file. The index of a partition stores it in six bytes.
///
/// A record keeps its address until it is replaced, evicted or copied, because extents never move.
struct RecordAddress: Sendable, Hashable, Comparable {
  /// The alignment of records in an extent, in bytes.
  static let unit = 4
  private static let unitsPerMark = UInt64(RecencyBitmap.bytesPerMark / unit)
  /// The number of bits of an address.
  static let bitCount = 48
  /// The bit that distinguishes a record that is a separate value from a record in an extent.
  private static let separateBit: UInt64 = 1 << UInt64(bitCount - 1)

  /// The address, for the items of the index.
  let bits: UInt64

  /// Returns nil for a number with more than 48 bits.
  init?(bits: UInt64) {
    guard bits >> UInt64(Self.bitCount) == 0 else { return nil }
    self.bits = bits
  }

  /// Creates the address of a record in an extent.
  ///
  /// - Parameters:
  ///   - extent: The extent.
  ///   - offset: The offset from the extent's first page, with its header. A multiple of ``unit``.
  ///   - layout: The layout of the file.
  init(_ extent: ExtentNumber, offset: Int, in layout: ExtentLayout) {
    precondition(extent.number < ExtentNumber.limit, "the file has too many extents")
    precondition(offset >= 0 && offset < layout.size && offset % Self.unit == 0, "the offset is outside of the extent")
    bits = (UInt64(extent.number) << UInt64(layout.shift) | UInt64(offset)) / UInt64(Self.unit)
  }

  /// Creates the address of a record that is a separate value.
  init(separate number: UInt64) {
    precondition(number < Self.separateBit, "the number of a large record has at most 47 bits")
    bits = Self.separateBit | number
  }

  /// Whether the record is a separate value.
  @inline(__always)
  var isSeparate: Bool { bits & Self.separateBit != 0 }

  /// A location in a file with this layout.
  enum Location: Sendable, Equatable {
    case inExtent(ExtentNumber, offset: Int)
    case separate(UInt64)
  }

  /// Returns the location, or nil if the file cannot have the extent, which is a sign of damage.
  @inline(__always)
  func location(in layout: ExtentLayout) -> Location? {
    if isSeparate { return .separate(bits & ~Self.separateBit) }
    let position = bits &* UInt64(Self.unit)
    let number = position &>> UInt64(truncatingIfNeeded: layout.shift)
    guard number < UInt64(ExtentNumber.limit) else { return nil }
    return .inExtent(
      ExtentNumber(number: UInt32(truncatingIfNeeded: number)),
      offset: Int(truncatingIfNeeded: position & UInt64(truncatingIfNeeded: layout.size &- 1)))
  }

  /// The number of the record's recency mark.
  ///
  /// Each record of ``RecencyBitmap/bytesPerMark`` or more has its own mark, if the bitmap covers all extents. With a
  /// shared mark, a new record would clear the mark of another one.
  @inline(__always)
  var mark: SequenceNumber {
    // Low numbers would share the marks of the first extents.
    SequenceNumber(number: isSeparate ? (bits &* 0x9fb2_1c65_1e98_df25) >> 16 : bits / Self.unitsPerMark)
  }

  static func < (left: RecordAddress, right: RecordAddress) -> Bool { left.bits < right.bits }
}
