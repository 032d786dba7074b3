/// The content of a draft: its writes, and the base of each key that it has seen. Pure; guarded by the draft's lock.
///
/// Values that are taken out are returned, for the draft to free outside the lock.
struct DraftState<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  typealias Write = KeyWrite<Value>

  private(set) var batch: Batch<Key, Value>
  /// The values that the draft shows of keys with several writes, in a cache that merges.
  private var mergedValues: [Key: Value] = [:]
  private var bases: [Key: DraftBase<Value>] = [:]
  /// Counts the writes of each key, for drafts of this one and for saves under way.
  private var writeCounts: [Key: UInt64] = [:]

  init(layering: WriteLayering) {
    batch = Batch(layering: layering)
  }

  var seenKeys: [Key] { Array(bases.keys) }
  func hasSeen(_ key: Key) -> Bool { bases[key] != nil }
  func writeCount(of key: Key) -> UInt64 { writeCounts[key] ?? 0 }

  /// The count of changes below when the draft first saw the key.
  func seenVersion(of key: Key) -> UInt64? { bases[key]?.version }

  /// The value below when the draft first saw the key; nil if it is not known.
  func baseline(of key: Key) -> DraftReading<Value>? { bases[key]?.baseline }

  /// The value that the user first read below.
  func firstRead(of key: Key) -> DraftReading<Value>? { bases[key]?.read }

  /// The tags of the value below, as far as the draft has looked at it.
  func tags(below key: Key) -> [String] { (bases[key]?.read ?? bases[key]?.baseline)?.tags ?? [] }

  /// The key as the draft has written it; nil if it has not.
  func ownReading(of key: Key) -> DraftReading<Value>? {
    guard let write = batch.writes[key] else { return nil }
    let tags: [String]
    switch write.storing.tags {
    case .named(let named): tags = named
    case .kept: tags = self.tags(below: key)
    }
    switch write {
    case .store(let value, _): return DraftReading(value: value, tags: tags)
    case .remove: return DraftReading(value: nil, tags: [])
    case .merge: return DraftReading(value: mergedValues[key], tags: tags)
    }
  }
}

// MARK: Seeing

extension DraftState {
  /// The key is read or written for the first time; false if another caller came first.
  mutating func see(_ key: Key, version: UInt64) -> Bool {
    if bases[key] != nil { return false }
    bases[key] = DraftBase(version: version)
    return true
  }

  /// The draft itself reads or writes the key; false if the key was not seen.
  mutating func noteOwnUse(of key: Key) -> Bool {
    guard bases[key] != nil else { return false }
    bases[key]?.isOwn = true
    return true
  }

  /// Notes a value that was read below. The first one counts. Frees nothing.
  ///
  /// - Parameters:
  ///   - version: the count of changes below after that; nil where it does not matter.
  ///   - isByUser: whether the user gets the value.
  mutating func note(_ reading: DraftReading<Value>, of key: Key, version: UInt64?, isByUser: Bool) {
    guard let base = bases[key] else { return }
    if isByUser, base.read == nil { bases[key]?.read = reading }
    if base.baseline == nil, base.version == version { bases[key]?.baseline = reading }
  }

  /// A draft of this one has seen the key: its base stays until that draft has no use for it. Nil if the key was not seen.
  mutating func watch(_ key: Key) -> UInt64? {
    guard bases[key] != nil else { return nil }
    bases[key]?.childCount += 1
    return writeCount(of: key)
  }

  /// A draft of this one has no use for the key any more; whether this one has none either.
  mutating func unwatch(_ key: Key) -> (isUnseen: Bool, former: DraftBase<Value>?) {
    bases[key]?.childCount -= 1
    guard bases[key]?.isUnneeded ?? false, batch.writes[key] == nil else { return (false, nil) }
    return (true, bases.removeValue(forKey: key))
  }
}

// MARK: Writing

extension DraftState {
  /// The values that a write replaces.
  typealias Replaced = (write: Write?, shown: Value?)

  /// A write, and the value that the draft shows after it.
  struct ShownWrite: Sendable {
    let key: Key
    /// How often the key had been written when the value was made.
    let count: UInt64
    let write: Write
    let shown: Value?
  }

  /// Takes writes, if none of their keys was written since their values were made; nil if one was.
  mutating func write(_ writes: [ShownWrite]) -> [Replaced]? {
    guard writes.allSatisfy({ writeCount(of: $0.key) == $0.count }) else { return nil }
    return writes.map { one in
      writeCounts[one.key, default: 0] += 1
      let former = batch.write(one.write, to: one.key)
      var merged: Value?
      if case .merge? = batch.writes[one.key] { merged = one.shown }
      let formerShown = mergedValues[one.key]
      mergedValues[one.key] = merged
      return (former, formerShown)
    }
  }

  /// Drops all writes. For drafts of this one that is a change of their keys. The bases that these drafts use stay.
  ///
  /// - Returns: the state as it was, to be freed; and the keys that the draft has no use for any more.
  mutating func empty() -> (former: DraftState, unseen: [Key]) {
    let former = self
    for key in batch.keys { writeCounts[key, default: 0] += 1 }
    batch = Batch(layering: batch.layering)
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
    return (former, unseen)
  }

  /// The writes of `saved`, an earlier state of this one, are below now. Later writes stay.
  ///
  /// - Parameter versions: the counts of changes below, as the save left them.
  /// - Returns: the state as it was, to be freed; the keys that the draft has no use for any more; and the saved ones that it
  ///   goes on to watch.
  mutating func endSaving(
    _ saved: DraftState, versions: [Key: UInt64]
  ) -> (former: DraftState, unseen: [Key], followed: [Key]) {
    let former = self
    batch = Batch(layering: batch.layering)
    mergedValues = [:]
    for key in former.batch.keys where writeCount(of: key) != saved.writeCount(of: key) {
      if let write = former.batch.writes[key] { _ = batch.write(write, to: key) }
      mergedValues[key] = former.mergedValues[key]
    }
    var unseen: [Key] = []
    var followed: [Key] = []
    for (key, base) in former.bases {
      let isWritten = batch.writes[key] != nil
      // Seen during the save.
      if !saved.hasSeen(key) { continue }
      if !isWritten, base.childCount == 0 {
        bases[key] = nil
        unseen.append(key)
        continue
      }
      bases[key]?.isOwn = isWritten
      // The draft's own save is not in conflict with its later writes.
      if let version = versions[key] {
        followed.append(key)
        bases[key]?.version = version
        bases[key]?.baseline = nil
        bases[key]?.read = nil
      }
    }
    return (former, unseen, followed)
  }
}
