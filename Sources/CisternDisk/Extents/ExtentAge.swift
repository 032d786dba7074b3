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
