/// Compressed traces.
enum GzipSamples {
  /// "a" and "b" on a line each, and then "a" again, as two members, one after the other.
  static let twoMembers: [UInt8] = [
    31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 75, 228, 74, 226, 2, 0, 151, 42, 87, 24, 4, 0, 0, 0, 31, 139, 8, 0, 0, 0, 0,
    0, 2, 3, 75, 228, 2, 0, 7, 161, 234, 221, 2, 0, 0, 0,
  ]
}
