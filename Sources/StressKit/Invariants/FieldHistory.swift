/// The check that a merged value loses no field. Pure.
///
/// The numbers of a field increase, and no operation removes a field. After a write has returned, or a read has
/// returned a field, every later read must have the field with at least that number.
struct FieldHistory: Sendable {
  private(set) var floor: [String: UInt64] = [:]

  /// Records the fields of a write that has returned, or of a value that was read.
  mutating func note(_ fields: [String: UInt64]) {
    floor.merge(fields) { max($0, $1) }
  }

  /// Checks a value that was read.
  ///
  /// - Parameters:
  ///   - value: The value; nil for none.
  ///   - floor: The smallest number of each field that is allowed, from before the read began.
  /// - Returns: The contradiction; nil for none.
  static func judge(_ value: [String: UInt64]?, floor: [String: UInt64]) -> String? {
    for (field, least) in floor {
      guard let number = value?[field] else { return "the field \(field) was lost; its number was at least \(least)" }
      if number < least { return "the field \(field) went back from \(least) to \(number)" }
    }
    return nil
  }
}
