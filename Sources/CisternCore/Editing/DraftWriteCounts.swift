/// The numbers of writes of the keys that a draft uses. Drafts of this one and concurrent saves compare them. Pure;
/// guarded by the draft's lock.
struct DraftWriteCounts<Key: Hashable & Sendable>: Sendable {
  private struct Counts: Sendable {
    var newest: DraftWriteCount
    /// The count after the newest write that replaces the values before it; zero for none.
    var replacement = DraftWriteCount.zero
  }

  private var counts: [Key: Counts] = [:]
  /// The count of all other keys. It is greater than each forgotten count, so that no later count equals that of an
  /// earlier write.
  private var unused = DraftWriteCount.zero

  /// The number of keys with a separate count, for tests.
  var keyCount: Int { counts.count }

  subscript(key: Key) -> DraftWriteCount { counts[key]?.newest ?? unused }

  /// Gives a key a separate count, which no longer changes with the count of unused keys.
  mutating func hold(_ key: Key) { counts[key] = counts[key] ?? Counts(newest: unused) }

  /// Counts a change of a key.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - replaces: Whether the change replaces the values that were set before.
  mutating func add(to key: Key, replaces: Bool = false) {
    let newest = self[key].next()
    let replacement = replaces ? newest : counts[key]?.replacement ?? .zero
    counts[key] = Counts(newest: newest, replacement: replacement)
  }

  /// Returns whether the values of a key that were set up to `count` were replaced since.
  func isReplaced(_ key: Key, since count: DraftWriteCount) -> Bool {
    counts[key].map { $0.replacement > count } ?? false
  }

  /// Forgets the count of a key. Returns the copy of the key, if it had a count.
  @discardableResult
  mutating func forget(_ key: Key) -> Key? {
    guard let index = counts.index(forKey: key) else { return nil }
    let (key, forgotten) = counts.remove(at: index)
    unused = max(unused, forgotten.newest.next())
    return key
  }

  /// Forgets the counts of the keys that a condition selects. The caller must have a copy of the former counts, which
  /// it releases outside the lock.
  mutating func forgetAll(where isUnused: (Key) -> Bool) {
    for key in counts.keys where isUnused(key) { forget(key) }
  }
}
