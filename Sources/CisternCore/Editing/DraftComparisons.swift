/// The comparisons of a draft with the layer below that are in progress, and the keys that only they need. It is pure.
struct DraftComparisons<Key: Sendable>: Sendable {
  /// The number of the newest comparison, or zero before the first one.
  private(set) var newest: UInt64 = 0
  /// The numbers of the comparisons in progress, in ascending order.
  private var inProgress: [UInt64] = []
  /// The keys that the draft no longer uses, in the order in which they left. A key occurs once for each watch below.
  private var leftKeys: [LeftKey] = []

  private struct LeftKey: Sendable {
    let key: Key
    /// The newest comparison at that time. A later one does not compare the key, or the draft watches it once more.
    let newest: UInt64
  }

  mutating func begin() {
    newest += 1
    inProgress.append(newest)
  }

  /// Ends a comparison. Returns the keys that no comparison in progress needs.
  mutating func end(_ number: UInt64) -> [Key] {
    inProgress.removeAll { $0 == number }
    let oldest = inProgress.first ?? .max
    let ended = leftKeys.prefix { $0.newest < oldest }.map(\.key)
    leftKeys.removeFirst(ended.count)
    return ended
  }

  /// Returns the keys that no comparison needs. ``end(_:)`` returns the others later.
  mutating func leave(_ keys: [Key]) -> [Key] {
    if inProgress.isEmpty { return keys }
    leftKeys += keys.map { LeftKey(key: $0, newest: newest) }
    return []
  }
}
