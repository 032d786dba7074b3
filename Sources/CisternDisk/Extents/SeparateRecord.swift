/// A record that is too large for an extent, and is a separate value of LMDB.
struct SeparateRecord: Sendable, Equatable {
  /// The place in the order of eviction, among the ages of extents.
  var age: ExtentAge
  /// The size of the value in bytes.
  let size: Int
}
