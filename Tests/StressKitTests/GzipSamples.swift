/// Compressed traces.
enum GzipSamples {
  /// The lines "a" and "b", and then "a" again, as two consecutive members.
  static let twoMembers: [UInt8] = [
    31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 75, 228, 74, 226, 2, 0, 151, 42, 87, 24, 4, 0, 0, 0, 31, 139, 8, 0, 0, 0, 0,
    0, 2, 3, 75, 228, 2, 0, 7, 161, 234, 221, 2, 0, 0, 0,
  ]
}
