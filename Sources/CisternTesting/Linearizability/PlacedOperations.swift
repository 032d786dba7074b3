/// Which operations have been given a place: nearly all up to some number, and a few beyond. Says so in little space.
struct PlacedOperations {
  /// The same for the same operations.
  struct Key: Hashable {
    /// How many words before the first one that lacks an operation.
    let full: Int
    /// The words from there to the last one that has any.
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
