/// What a draft holds: its writes, and how what lies below was when it first saw each key. Pure; the draft has the lock.
///
/// What is taken out is returned, for the draft to free outside the lock.
struct DraftState<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private struct Seen: Sendable {
    /// The count of changes below, when the key was first read or written.
    let version: UInt64
    /// The value that was first read; nil where none was.
    var original: Value?
    var isOriginalKnown = false
  }

  private(set) var batch = Batch<Key, Value>()
  private var seen: [Key: Seen] = [:]
  /// Counts the writes of each key, for drafts of this one and for saves under way.
  private var writeCounts: [Key: UInt64] = [:]

  var seenKeys: [Key] { Array(seen.keys) }
  func hasSeen(_ key: Key) -> Bool { seen[key] != nil }
  func writeCount(of key: Key) -> UInt64 { writeCounts[key] ?? 0 }

  /// The key is read or written for the first time; false where somebody else came first.
  mutating func see(_ key: Key, version: UInt64) -> Bool {
    if seen[key] != nil { return false }
    seen[key] = Seen(version: version)
    return true
  }

  /// The key's value was read below. The first one counts; answers the one that is not kept.
  mutating func noteOriginal(_ value: Value?, of key: Key) -> Value? {
    guard seen[key]?.isOriginalKnown == false else { return value }
    seen[key]?.original = value
    seen[key]?.isOriginalKnown = true
    return nil
  }

  mutating func write(_ write: Batch<Key, Value>.Write, to key: Key) -> Batch<Key, Value>.Write? {
    writeCounts[key, default: 0] += 1
    return batch.write(write, to: key)
  }

  /// Takes writes of a draft of this one, if none of their keys was written since their versions; nil if one was.
  mutating func writeAll(
    _ writes: [(key: Key, version: UInt64, write: Batch<Key, Value>.Write)]
  ) -> [Batch<Key, Value>.Write?]? {
    guard writes.allSatisfy({ writeCount(of: $0.key) == $0.version }) else { return nil }
    return writes.map { write($0.write, to: $0.key) }
  }

  /// Drops everything. For drafts of this one, what was written here has changed.
  mutating func empty() -> DraftState {
    let former = self
    for key in batch.keys { writeCounts[key, default: 0] += 1 }
    batch = Batch()
    seen = [:]
    return former
  }

  /// The writes of `saved`, an earlier state of this one, are below now: what was not written since goes.
  ///
  /// - Returns: the state as it was, to be freed; and the keys that were written since, whose changes below count from now.
  mutating func endSaving(_ saved: DraftState) -> (former: DraftState, rewritten: [Key]) {
    let former = self
    batch = Batch()
    for key in former.batch.keys where writeCount(of: key) != saved.writeCount(of: key) {
      if let write = former.batch.writes[key] { _ = batch.write(write, to: key) }
    }
    seen = [:]
    return (former, batch.keys)
  }
}

// MARK: Conflicts

extension DraftState {
  /// Whether the key has changed below since it was first seen.
  func isConflict(_ key: Key, version: UInt64) -> Bool { seen[key].map { $0.version != version } ?? false }

  /// What is to be written of a key; nil where it is to stay as it is below. Runs the policy's merge.
  ///
  /// - Parameters:
  ///   - theirs: the value below; needed where the policy merges.
  ///   - version: the count of changes below, as of that value.
  func write(
    of key: Key, over theirs: Value?, version: UInt64, _ policy: DraftConflictPolicy<Key, Value>
  ) throws(CisternError) -> (write: Batch<Key, Value>.Write, isResolved: Bool)? {
    guard let mine = batch.writes[key] else { return nil }
    guard isConflict(key, version: version) else { return (mine, false) }
    switch policy.decision {
    case .theirs: return nil
    case .mine: return (mine, false)
    case .throw: throw DraftConflictError(keys: [key]).wrapped
    case .merge(let merge):
      var myValue: Value?
      var storing = Storing()
      if case .store(let value, let given) = mine { (myValue, storing) = (value, given) }
      let conflict = DraftConflict(key: key, original: seen[key]?.original, theirs: theirs, mine: myValue)
      do {
        return (try merge(conflict).map { .store($0, storing) } ?? .remove, true)
      } catch {
        throw CisternError(
          .notMerged, "a conflict of a draft could not be resolved; nothing of it was saved",
          location: "saving a draft, key \(key)", cause: error)
      }
    }
  }
}
