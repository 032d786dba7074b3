/// The set of the operations that have a place, in a compact form.
///
/// Nearly all operations up to some index are members, and few operations after it.
struct PlacedOperations {
  /// A value that is equal for equal sets.
  struct Key: Hashable {
    /// The number of leading words in which all operations are members.
    let full: Int
    /// The words after them, up to the last word with a member.
    let rest: [UInt64]
  }

  private var words: [UInt64]
  private var full = 0
  private var end = 0

  init(count: Int) {
    words = [UInt64](repeating: 0, count: count / 64 + 1)
  }

  var key: Key { Key(full: full, rest: Array(words[full..<max(full, end)])) }

  mutating func insert(_ operation: Int) {
    words[operation / 64] |= 1 << UInt64(operation % 64)
    end = max(end, operation / 64 + 1)
    while full < words.count, words[full] == .max { full += 1 }
  }

  mutating func remove(_ operation: Int) {
    words[operation / 64] &= ~(1 << UInt64(operation % 64))
    full = min(full, operation / 64)
    while end > 0, words[end - 1] == 0 { end -= 1 }
  }
}
