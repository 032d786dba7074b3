/// The number of an extent of the data file, from zero on. The file never uses the number of a released extent again.
struct ExtentNumber: Sendable, Hashable, Comparable {
  /// The limit of numbers: an address of 48 bits has room for 2²⁹ extents of 1 MiB.
  static let limit: UInt32 = 1 << 29

  /// The number, for the keys of the file.
  let number: UInt32

  static func < (left: ExtentNumber, right: ExtentNumber) -> Bool { left.number < right.number }
}
