/// The invariant of an enumeration beside writers: each key comes once, and no key is missing that is never removed.
/// Pure.
enum EnumerationRule {
  /// Checks the keys of an enumeration.
  ///
  /// - Parameters:
  ///   - keys: The keys in the order of the enumeration.
  ///   - required: The keys that no writer removes.
  /// - Returns: The contradiction; nil for none.
  static func judge(_ keys: [String], required: [String]) -> String? {
    let found = Set(keys)
    if found.count < keys.count { return "an enumeration of \(found.count) keys has \(keys.count) elements" }
    return required.first { !found.contains($0) }.map { "an enumeration has no key \($0), which no writer removes" }
  }
}
