/// The writes of a draft, and the base of each key that it has used. It is pure, and the draft's lock guards it.
///
/// Keys and values that are taken out are returned, so that the draft can release them outside the lock.
struct DraftState<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  typealias Write = KeyWrite<Value>

  private(set) var batch: Batch<Key, Value>
  /// A written key that does not equal itself. No dictionary would find its write, so a save throws.
  private(set) var unequalKey: Key?
  /// The values that the draft shows for keys with several writes, in a cache that merges.
  private var mergedValues: [Key: Value] = [:]
  private var bases: [Key: DraftBase<Value>] = [:]
  private var newestBaseNumber = DraftBaseNumber.zero
  /// The number of saves that have ended.
  private(set) var saveCount: UInt64 = 0
  /// The number of writes of each key that has a base or a write.
  private var writeCounts = DraftWriteCounts<Key>()
  private var comparisons = DraftComparisons<Key>()

  init(layering: WriteLayering) {
    batch = Batch(layering: layering)
  }

  var seenKeys: [Key] { Array(bases.keys) }
  func hasSeen(_ key: Key) -> Bool { bases[key] != nil }
  func writeCount(of key: Key) -> DraftWriteCount { writeCounts[key] }
  /// The number of keys with a write count, for tests.
  var countedKeyCount: Int { writeCounts.keyCount }

  /// Returns the base of a key, or nil if the key has none.
  func base(of key: Key) -> DraftBase<Value>? { bases[key] }

  /// Returns the identity of the key's base, or nil if the key has none.
  func baseNumber(of key: Key) -> DraftBaseNumber? { bases[key]?.number }

  /// Returns the number of changes below when the draft first used the key.
  func seenVersion(of key: Key) -> VersionBelow? { bases[key]?.version }

  /// Returns the value below that the user first read.
  func firstRead(of key: Key) -> DraftReading<Value>? { bases[key]?.read }

  /// Returns the tags of the value below when the draft first used the key.
  func tags(below key: Key) -> [String] {
    guard let base = bases[key] else { return [] }
    // The user may have read a newer value than that of the base.
    if let read = base.read, read.value != nil { return read.tags }
    return base.tags
  }

  /// Returns the tags of the value that the draft has for a key, or of the value below.
  func tags(of key: Key) -> [String] {
    let below = tags(below: key)
    return batch.writes[key]?.namedTags(over: below) ?? below
  }

  /// Whether the draft's write of a key removes it.
  func isRemoved(_ key: Key) -> Bool { if case .remove? = batch.writes[key] { true } else { false } }

  /// Returns the value that the draft wrote, or nil if it did not write the key.
  func ownReading(of key: Key) -> DraftReading<Value>? {
    guard let write = batch.writes[key] else { return nil }
    let tags = tags(of: key)
    switch write {
    case .store(let value, _): return DraftReading(value: value, tags: tags)
    case .remove: return DraftReading(value: nil, tags: tags)
    case .merge: return DraftReading(value: mergedValues[key], tags: tags)
    }
  }
}

// MARK: Seeing

extension DraftState {
  /// Adds the base of a key before its first use.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - seen: The state of the key below.
  ///   - saveCount: The number of ended saves before the key was read below. The draft's own save must be no conflict.
  /// - Returns: False if another caller was first, or if a save has ended since.
  mutating func see(_ key: Key, _ seen: SeenKey<Value>, since saveCount: UInt64) -> Bool {
    if bases[key] != nil || saveCount != self.saveCount { return false }
    bases[key] = DraftBase(seen)
    renumber(key)
    // Drafts of this one compare it, so it must not change with the count of unused keys.
    writeCounts.hold(key)
    return true
  }

  /// Gives the base of a key another identity. A read or save that began before leaves the base as it is.
  private mutating func renumber(_ key: Key) {
    newestBaseNumber = newestBaseNumber.next()
    bases[key]?.number = newestBaseNumber
  }

  /// Records that the draft itself uses the key. Returns false if the key has no base.
  mutating func noteOwnUse(of key: Key) -> Bool {
    guard bases[key] != nil else { return false }
    bases[key]?.isOwn = true
    return true
  }

  /// Records a value below that the user read. Keeps only the first one, and releases no value.
  ///
  /// - Parameters:
  ///   - reading: The value.
  ///   - key: The key.
  ///   - number: The identity of the key's base before the read, or nil if it had none. Another base may be newer than
  ///     the value.
  ///   - isChange: Whether the value is another one than the baseline.
  mutating func note(_ reading: DraftReading<Value>, of key: Key, in number: DraftBaseNumber?, isChange: Bool) {
    guard let base = bases[key], base.number == number else { return }
    if base.read == nil { bases[key]?.read = reading }
    if isChange { bases[key]?.hasReadChange = true }
  }

  /// Records that a draft of this one uses the key, which keeps its base.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - value: The value that this draft shows, or nil for a cache without a comparison.
  ///   - count: The number of writes of the key before the value was read.
  /// - Returns: The state of the key. Nil if the key has no base, or was written since.
  mutating func watch(_ key: Key, _ value: Value?, at count: DraftWriteCount) -> SeenKey<Value>? {
    guard bases[key] != nil, writeCount(of: key) == count else { return nil }
    bases[key]?.childCount += 1
    return SeenKey(version: VersionBelow(count), tags: tags(of: key), value: value)
  }

  /// Records that a draft of this one no longer uses the key.
  ///
  /// - Parameter key: The key.
  /// - Returns: The keys that no draft uses now. Also the copies of the key that the draft had, which the caller must
  ///   release outside the lock.
  mutating func unwatch(_ key: Key) -> (unseen: [Key], former: ForgottenKey?) {
    bases[key]?.childCount -= 1
    guard bases[key]?.isUnneeded ?? false, batch.writes[key] == nil else { return ([], nil) }
    let counted = writeCounts.forget(key)
    let base = bases.index(forKey: key).map { bases.remove(at: $0) }
    return (comparisons.leave([key]), ForgottenKey(counted: counted, base: base))
  }

  /// Forgets the counts of all keys that have neither a base nor a write. The caller must have a copy of the former
  /// counts, which it releases outside the lock.
  private mutating func forgetUnusedCounts() {
    writeCounts.forgetAll { bases[$0] == nil && batch.writes[$0] == nil }
  }
}

// MARK: Comparing

extension DraftState {
  /// Begins a comparison of the present state with the layer below: a save, or a search for conflicts.
  ///
  /// All keys of the state stay watched below until ``endComparing(_:)``. Otherwise, the number of their changes would
  /// begin again.
  mutating func beginComparing() -> DraftState {
    comparisons.begin()
    return self
  }

  /// Ends the comparison of a state. Returns the keys that the draft no longer watches below.
  mutating func endComparing(_ compared: DraftState) -> [Key] { comparisons.end(compared.comparisons.newest) }
}

// MARK: Writing

extension DraftState {
  /// The values that a write replaces, which the caller must release outside the lock.
  typealias Replaced = (write: Write?, shown: (key: Key, value: Value)?)

  /// Returns the present state of a key.
  func keyState(of key: Key) -> KeyState { KeyState(count: writeCount(of: key), base: baseNumber(of: key)) }

  /// Returns whether the writes can be added: each key has a base, and was neither written nor saved after its `shown`
  /// was computed.
  ///
  /// Without a base, a save would notice no change below.
  func accepts(_ writes: [ComputedWrite]) -> Bool {
    writes.allSatisfy { bases[$0.key] != nil && keyState(of: $0.key) == $0.keyState }
  }

  /// Adds writes. Returns nil, and adds none, if they cannot be added.
  mutating func write(_ writes: [ComputedWrite]) -> [Replaced]? {
    guard accepts(writes) else { return nil }
    return writes.map { one in
      writeCounts.add(to: one.key, replaces: one.write.replaces)
      let former = batch.write(one.write, to: one.key)
      var merged: Value?
      if case .merge? = batch.writes[one.key] { merged = one.shown }
      return (former, replaceMergedValue(of: one.key, by: merged))
    }
  }

  /// Records the write of a key that does not equal itself.
  mutating func writeUnequalKey(_ key: Key) { unequalKey = unequalKey ?? key }

  /// Replaces the value that the draft shows for a key with several writes. Returns the former one with its copy of the
  /// key.
  private mutating func replaceMergedValue(of key: Key, by new: Value?) -> (key: Key, value: Value)? {
    let former = mergedValues.index(forKey: key).map { mergedValues.remove(at: $0) }
    if let new { mergedValues[key] = new }
    return former
  }

  /// Drops all writes, which is a change of their keys for drafts of this one. Keeps the bases that these drafts use.
  ///
  /// - Returns: The former state, which the caller must release outside the lock, and the keys that the draft no
  ///   longer uses.
  mutating func empty() -> (former: DraftState, unseen: [Key]) {
    let former = self
    for key in batch.keys {
      writeCounts.add(to: key)
      renumber(key)
    }
    batch = Batch(layering: batch.layering)
    unequalKey = nil
    mergedValues = [:]
    var unseen: [Key] = []
    for (key, base) in former.bases {
      if base.childCount == 0 {
        bases[key] = nil
        unseen.append(key)
      } else {
        bases[key]?.isOwn = false
      }
    }
    forgetUnusedCounts()
    return (former, comparisons.leave(unseen))
  }

  /// Returns the writes after `saved`, an earlier state of this one. In a cache that merges, the values that `saved`
  /// has are left out.
  ///
  /// The caller computes the values that the draft shows after these writes.
  func writes(after saved: DraftState) -> [(key: Key, keyState: KeyState, write: Write)] {
    batch.keys.compactMap { key in
      let (keyState, savedCount) = (keyState(of: key), saved.writeCount(of: key))
      guard keyState.count != savedCount, let write = batch.writes[key] else { return nil }
      // After a discard, the base has another number.
      let isContinued =
        bases[key]?.number == saved.bases[key]?.number && !writeCounts.isReplaced(key, since: savedCount)
      guard isContinued, let earlier = saved.batch.writes[key] else { return (key, keyState, write) }
      return (key, keyState, write.remainder(after: earlier))
    }
  }

  /// Removes the writes of `saved`, an earlier state of this one, after a save applied them below. Keeps later
  /// writes.
  ///
  /// - Parameters:
  ///   - saved: The saved state.
  ///   - keys: The saved keys.
  ///   - later: The later writes, from ``writes(after:)``.
  /// - Returns: The former state, which the caller must release outside the lock, and the keys that the draft no
  ///   longer uses. Nil if a key was written since `later` was computed.
  mutating func endSaving(
    _ saved: DraftState, _ keys: [Key: SavedKey<Value>], later: [ComputedWrite]
  ) -> (former: DraftState, unseen: [Key])? {
    let laterCount = batch.keys.count { writeCount(of: $0) != saved.writeCount(of: $0) }
    guard laterCount == later.count, later.allSatisfy({ keyState(of: $0.key) == $0.keyState }) else { return nil }
    let former = self
    saveCount += 1
    batch = Batch(layering: batch.layering)
    mergedValues = [:]
    for one in later {
      _ = batch.write(one.write, to: one.key)
      if case .merge = one.write { mergedValues[one.key] = one.shown }
    }
    var unseen: [Key] = []
    for (key, base) in former.bases {
      let isWritten = batch.writes[key] != nil
      // The draft first used the key during the save, or again after a discard, so its base must stay.
      if saved.bases[key]?.number != base.number { continue }
      if !isWritten, base.childCount == 0 {
        bases[key] = nil
        unseen.append(key)
        continue
      }
      bases[key]?.isOwn = isWritten
      // The draft's own save must not conflict with its later writes.
      if let one = keys[key] {
        renumber(key)
        // A draft of this one may have read the value that the policy has replaced. In a cache that merges, the value
        // that a later write has shown contains it.
        if !one.isOwn, !isWritten || batch.layering == .merges { writeCounts.add(to: key) }
        bases[key]?.version = one.version
        bases[key]?.tags = one.tags
        bases[key]?.baseline = one.value
        bases[key]?.read = nil
        bases[key]?.hasReadChange = false
      }
    }
    forgetUnusedCounts()
    return (former, comparisons.leave(unseen))
  }
}
