/// Judges two keys that are only written together. Pure.
enum PairRule {
  /// What is wrong with three reads, one after the other: of one key, of the other, and of the first again. Each number is
  /// written once, so that a key which shows the same number twice had it all the while, and so had the other.
  static func judge(first: UInt64?, other: UInt64?, firstAgain: UInt64?) -> String? {
    guard let first, first == firstAgain, other != first else { return nil }
    return "one key was \(first) before and after the other was read as \(other.map(String.init) ?? "nothing")"
  }

  /// What is wrong with the two when nobody writes them.
  static func judgeRest(_ one: UInt64?, _ other: UInt64?) -> String? {
    one == other ? nil : "one is \(one.map(String.init) ?? "nothing"), the other \(other.map(String.init) ?? "nothing")"
  }
}
