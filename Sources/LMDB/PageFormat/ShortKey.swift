/// A key of at most eight bytes. It is a number that has the order of the bytes, so that comparisons are fast.
struct ShortKey: Sendable, Hashable {
  /// The bytes as a big-endian number, followed by zeros.
  let word: UInt64
  let count: Int

  init(word: UInt64, count: Int) {
    self.word = word
    self.count = count
  }

  /// Returns nil for an empty name, or for one of more than eight bytes.
  init?(_ name: String) {
    guard (1...8).contains(name.utf8.count) else { return nil }
    let word = name.utf8.reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
    count = name.utf8.count
    self.word = word << UInt64(64 - 8 * count)
  }

  init(_ key: IndexKey) {
    self.init(word: key.number << (64 - IndexKey.bitCount), count: IndexKey.size)
  }

  /// Compares the key with another one, of which only the first eight bytes are known. The result is negative, zero or
  /// positive.
  @inline(__always)
  func order(toWord other: UInt64, count otherCount: Int) -> Int {
    if word != other { return word < other ? -1 : 1 }
    return count &- otherCount
  }
}
