/// Judges whether a merged value has lost a field. Pure.
///
/// The numbers of a field rise, and nothing removes a field: once a write has returned, or a read has shown it, every read
/// that begins later has it, with that number or a greater one.
struct FieldHistory: Sendable {
  private(set) var floor: [String: UInt64] = [:]

  /// A write of a field has returned, or a read has shown it.
  mutating func note(_ fields: [String: UInt64]) {
    floor.merge(fields) { max($0, $1) }
  }

  /// What is wrong with a value whose read began when `floor` was what was known; nil where nothing is.
  static func judge(_ value: [String: UInt64]?, floor: [String: UInt64]) -> String? {
    for (field, least) in floor {
      guard let number = value?[field] else { return "the field \(field), at least \(least), was lost" }
      if number < least { return "the field \(field) went back from \(least) to \(number)" }
    }
    return nil
  }
}
