extension DraftState {
  /// Whether the draft has no unsaved writes.
  var isEmpty: Bool { batch.isEmpty && unequalKey == nil }

  /// The keys with unsaved writes, in the order of their first writes.
  var writtenKeys: [Key] { batch.keys + (unequalKey.map { [$0] } ?? []) }

  /// Throws if the draft wrote a key that does not equal itself. No save can store such a write.
  func checkKeys() throws(CisternError) {
    if let unequalKey { throw .unequalKey(unequalKey, in: "saving a draft") }
  }

  /// Returns whether the key has changed below since the draft first used it. Calls the user's comparison.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - version: The number of changes below.
  ///   - isEqual: The cache's comparison. If it is present, a value that equals the first one is not a change,
  ///     unless the user has read another one in between.
  ///   - theirs: A closure that returns the value below.
  /// - Returns: Whether the key has changed.
  func isConflict(
    _ key: Key, version: VersionBelow, isEqual: ((Value, Value) -> Bool)?, theirs: () -> Value?
  ) -> Bool {
    guard let seenVersion = seenVersion(of: key), seenVersion != version else { return false }
    guard let isEqual, let base = base(of: key), !base.hasReadChange else { return true }
    switch (base.baseline, theirs()) {
    case (let original?, let theirs?): return !isEqual(original, theirs)
    case (nil, nil): return false
    default: return true
    }
  }

  /// A write after the policy resolved a conflict.
  struct ResolvedWrite {
    /// The write; nil to keep the value below.
    let write: Write?
    var origin = Origin.policy

    /// Returns whether the value below is then the one that the draft showed.
    ///
    /// - Parameter merges: Whether the cache merges a value with the one below.
    /// - Returns: Whether the value is the draft's own.
    func isOwn(inMergingCache merges: Bool) -> Bool {
      switch origin {
      case .draft: true
      case .draftOverTheirs: !merges || write?.replaces ?? false
      case .policy: false
      }
    }
  }

  /// The origin of a write after the policy resolved a conflict.
  enum Origin {
    /// The draft, without a conflict.
    case draft
    /// The draft, over a value that another writer has changed.
    case draftOverTheirs
    /// The policy, which left or made another value than the draft showed.
    case policy
  }

  /// Returns the write of a key after the policy resolved a conflict. Calls the policy's merge closure.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - theirs: The value below. It is required if the policy merges, or if the cache has an `isEqual`.
  ///   - version: The number of changes below at the time of that value.
  ///   - isEqual: The cache's comparison.
  ///   - policy: The policy of the save.
  /// - Returns: The write.
  /// - Throws: `CisternError` if the policy or the merge fails.
  func write(
    of key: Key, over theirs: Value?, version: VersionBelow, isEqual: ((Value, Value) -> Bool)?,
    _ policy: DraftConflictPolicy<Key, Value>
  ) throws(CisternError) -> ResolvedWrite {
    guard let mine = batch.writes[key] else { return ResolvedWrite(write: nil) }
    guard isConflict(key, version: version, isEqual: isEqual, theirs: { theirs }) else {
      return ResolvedWrite(write: mine, origin: .draft)
    }
    switch policy.decision {
    case .theirs: return ResolvedWrite(write: nil)
    case .mine: return ResolvedWrite(write: mine, origin: .draftOverTheirs)
    case .throw: throw DraftConflictError(keys: [key]).wrapped
    case .merge(let resolve):
      let conflict = DraftConflict(
        key: key, original: firstRead(of: key)?.value, theirs: theirs, mine: ownReading(of: key)?.value)
      let resolved: Value?
      do {
        resolved = try resolve(conflict)
      } catch {
        throw CisternError(
          .notMerged, "the conflict policy threw an error, so the draft was not saved",
          location: KeyedLocation.text("saving a draft", key), cause: error,
          remedy: "Correct the conflict policy, or save with another one")
      }
      guard let resolved else { return ResolvedWrite(write: .remove) }
      // In a cache that merges, a value after a removal replaces the one below.
      let replaces = batch.layering == .merges && mine.replaces
      return ResolvedWrite(
        write: replaces
          ? .merge(MergedWrites([resolved], mine.writeOptions, replaces: true)) : .store(resolved, mine.writeOptions))
    }
  }
}
