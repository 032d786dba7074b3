/// The sizes that follow from the size of the extents of a data file, which never changes.
///
/// An extent is a value of LMDB in separate pages. Its size with LMDB's page header is a power of two.
struct ExtentLayout: Sendable, Equatable {
  /// The size of the header of an extent's first page in bytes.
  static let headerSize = 16
  /// The binary logarithms of the smallest and the largest size: 16 KiB and 1 MiB.
  static let shifts = 14...20

  /// The binary logarithm of the size with the header.
  let shift: Int

  /// Returns nil if the logarithm is not one of ``shifts``, which is a sign of damage.
  init?(shift: Int) {
    guard Self.shifts.contains(shift) else { return nil }
    self.shift = shift
  }

  /// Creates the layout for a new file: an extent takes about 1/128 of the map, and at least a page.
  ///
  /// LMDB gives only a value of more than half a page its own pages.
  init(mapSize: Int, pageSize: Int = 4096) {
    let part = max(mapSize / 128, pageSize, 1)
    shift = min(max(Int.bitWidth - 1 - part.leadingZeroBitCount, Self.shifts.lowerBound), Self.shifts.upperBound)
  }

  /// The size of an extent with its header, in bytes.
  var size: Int { 1 << shift }
  /// The size of an extent's value, in bytes.
  var capacity: Int { size - Self.headerSize }
  /// The size of the largest record that lies in an extent, in bytes. A larger record is a separate value.
  var largestRecord: Int { size / 4 }

  /// Returns the number of bytes that a record of this size takes in an extent.
  static func room(for size: Int) -> Int { (size + RecordAddress.unit - 1) & ~(RecordAddress.unit - 1) }
}
