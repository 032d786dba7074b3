/// The number of an extent of the data file, from zero on. The file never uses the number of a released extent again.
struct ExtentNumber: Sendable, Hashable, Comparable {
  /// The limit of numbers: an address of 48 bits has room for 2²⁹ extents of 1 MiB.
  static let limit: UInt32 = 1 << 29

  /// The number, for the keys of the file.
  let number: UInt32

  static func < (left: ExtentNumber, right: ExtentNumber) -> Bool { left.number < right.number }
}

/// The place of an extent in the order of eviction. It is that of the newest record in the extent.
///
/// An extent of cleaned records has the age of the extent that they come from. Records with a second chance get a new
/// age.
struct ExtentAge: Sendable, Hashable, Comparable {
  /// The number, for the rows of the file.
  let number: UInt64

  /// The age below that of the first extent.
  static var zero: ExtentAge { ExtentAge(number: 0) }

  /// Returns the next age.
  func next() -> ExtentAge { ExtentAge(number: number + 1) }

  static func < (left: ExtentAge, right: ExtentAge) -> Bool { left.number < right.number }
}
