/// Judges a count that only one client raises, by edits of which each is confirmed or taken back. Pure.
enum EditRule {
  /// What is wrong with what that client finds; nil where nothing is.
  static func judge(_ found: UInt64?, expected: UInt64?) -> String? {
    let (found, expected) = (found ?? 0, expected ?? 0)
    if found < expected { return "it is \(found), not \(expected): an edit that is shown or confirmed was lost" }
    if found > expected { return "it is \(found), not \(expected): an edit counts twice, or was not taken back" }
    return nil
  }
}
