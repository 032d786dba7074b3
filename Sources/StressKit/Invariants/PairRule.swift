/// The invariant of two keys that clients only write together. Pure.
enum PairRule {
  /// Checks three consecutive reads: of one key, of the other, and of the first again. Returns the contradiction,
  /// or nil.
  ///
  /// Each number is written once. If both reads of the first key return the same number, the key had it in between,
  /// and so had the other key.
  static func judge(first: UInt64?, other: UInt64?, firstAgain: UInt64?) -> String? {
    guard let first, first == firstAgain, other != first else { return nil }
    return "one key was \(first) before and after a read of the other returned \(other.map(String.init) ?? "nothing")"
  }

  /// Checks both keys while no client writes them. Returns the contradiction, or nil.
  static func judgeRest(_ one: UInt64?, _ other: UInt64?) -> String? {
    one == other ? nil : "one is \(one.map(String.init) ?? "nothing"), the other \(other.map(String.init) ?? "nothing")"
  }
}
