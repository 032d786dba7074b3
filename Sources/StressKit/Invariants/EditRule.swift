/// The invariant of a count that only one client raises, with edits that are confirmed or rolled back. Pure.
enum EditRule {
  /// Checks the count that the client finds. Returns the contradiction, or nil.
  static func judge(_ found: UInt64?, expected: UInt64?) -> String? {
    let (found, expected) = (found ?? 0, expected ?? 0)
    if found < expected { return "the count is \(found), not \(expected): a pending or confirmed edit was lost" }
    if found > expected { return "the count is \(found), not \(expected): an edit counts twice, or is not rolled back" }
    return nil
  }
}
