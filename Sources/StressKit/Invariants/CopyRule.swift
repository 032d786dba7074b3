/// The invariant of a copy of a store in use: it has whole batches, and each batch that had ended before. Pure.
enum CopyRule {
  /// The batches of a writer. Each has the next number, which it gives to both keys of a pair.
  struct Batches: Sendable, Equatable {
    /// The number of batches that were called.
    var begun: UInt64 = 0
    /// The number of batches that returned.
    var ended: UInt64 = 0
  }

  /// Checks the pair of a writer in a copy.
  ///
  /// - Parameters:
  ///   - left: The value of one key; nil if the copy does not have the key.
  ///   - right: The value of the other key.
  ///   - before: The batches of the writer before the copy began.
  ///   - after: The batches of the writer after the copy ended.
  /// - Returns: The contradiction; nil for none.
  static func judge(_ left: UInt64?, _ right: UInt64?, before: Batches, after: Batches) -> String? {
    guard left == right else {
      return "one key is \(left.map(String.init) ?? "absent"), the other \(right.map(String.init) ?? "absent")"
    }
    let number = left ?? 0
    if number < before.ended { return "the copy has batch \(number), but batch \(before.ended) had returned before" }
    return number > after.begun ? "the copy has batch \(number), but only \(after.begun) were called" : nil
  }
}
