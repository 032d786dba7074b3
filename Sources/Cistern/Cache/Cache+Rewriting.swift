// Writes that depend on what is cached: they read a value with its version, make another one of it outside all locks, and
// store that if the version still stands. Else they begin again.

extension Cache {
  /// What a key has, in either tier, as a write finds it.
  @usableFromInline
  struct Finding {
    /// The value that may be returned to someone: fresh, or in grace.
    @usableFromInline let usable: Value?
    /// Whether that is past its lifetime.
    @usableFromInline let isStale: Bool
    /// How long it is good for.
    @usableFromInline let timing: Timing
    /// What observers take for its value, if known: the same, but for unconfirmed edits.
    @usableFromInline let shown: Value?
    /// Whether observers take the key to have a value.
    @usableFromInline let existed: Bool
    /// The unconfirmed edits, where some lie over the key. The usable value is the one below them.
    @usableFromInline let edited: EditedKeys<Key, Value>.Edited?
    @usableFromInline let version: KeyVersions.Version
    /// The flight that was asked about, if the entry is its own.
    @usableFromInline let flight: Flight<Value>?

    @inlinable
    init(
      usable: Value?, isStale: Bool, timing: Timing, shown: Value?, existed: Bool,
      edited: EditedKeys<Key, Value>.Edited?, version: KeyVersions.Version, flight: Flight<Value>?
    ) {
      self.usable = usable
      self.isStale = isStale
      self.timing = timing
      self.shown = shown
      self.existed = existed
      self.edited = edited
      self.version = version
      self.flight = flight
    }

    /// The fresh value.
    @inlinable
    var value: Value? { isStale ? nil : usable }

    /// Whether unconfirmed edits lie over a value whose time is up.
    var isGoneUnderEdits: Bool {
      guard let edited, case nil = usable else { return false }
      return edited.queue.base.map { _ in true } ?? false
    }
  }

  /// What becomes of a key.
  @usableFromInline
  enum Replacement: Sendable {
    /// It has this value.
    case store(Value)
    /// It has none.
    case remove
    /// It stays as it is.
    case keep
  }

  /// Reads a key that is watched. Asks the second tier where memory has nothing, and decodes: outside all locks.
  ///
  /// - Parameter readsValue: whether the value is of interest, beside the version.
  @inlinable
  func find(_ key: Key, hash: UInt64, isOwnOf flight: Flight<Value>? = nil, readsValue: Bool = true) -> Finding {
    noticeExpiry(ofKey: key, hash: hash)
    let watched = table.watched(key, hash: hash, isOwnOf: flight)
    if !edits.isEmpty, let edited = edits[key] {
      table.noteRead(key, hash: hash, tags: edited.timing.tags, version: watched.version, since: watched.era)
      return found(edited, version: watched.version, flight: watched.isOwn ? flight : nil)
    }
    var found: Arrival<Value>?
    var existed = watched.held.map { _ in true } ?? false
    if !readsValue {
    } else if let held = watched.held {
      if !held.isGone(at: now()) { found = Arrival(value: held.value, cost: 0, timing: held.timing) }
    } else if let record = secondTier?.read(key) {
      switch interpret(record, forKey: key) {
      case .usable(let read, _):
        (found, existed) = (read, true)
        table.noteRead(key, hash: hash, tags: read.timing.tags, version: watched.version, since: watched.era)
      case .worthless: existed = true
      case .foreign: break
      }
    }
    return Finding(
      usable: found?.value, isStale: found?.isStale(at: now()) ?? false,
      timing: found?.timing ?? .plain(until: .distantFuture), shown: found?.value, existed: existed, edited: nil,
      version: watched.version, flight: watched.isOwn ? flight : nil)
  }

  /// What a key has that unconfirmed edits lie over.
  @usableFromInline
  func found(
    _ edited: EditedKeys<Key, Value>.Edited, version: KeyVersions.Version, flight: Flight<Value>?
  ) -> Finding {
    let freshness = edited.timing.freshness(at: clock.now())
    let isStale = if case .stale = freshness { true } else { false }
    return Finding(
      usable: freshness == .gone ? nil : edited.queue.base, isStale: isStale, timing: edited.timing,
      shown: edited.shown, existed: edited.shown.map { _ in true } ?? false, edited: edited, version: version,
      flight: flight)
  }

  /// Reads a key, and runs `body` in its critical section with that still standing.
  func find<Result>(_ key: Key, hash: UInt64, while body: () -> Result) -> (Finding, Result) {
    table.watch(hash)
    defer { table.unwatch(hash) }
    while true {
      let finding = find(key, hash: hash)
      if let result = table.whileUnchanged(finding.version, hash: hash, body) { return (finding, result) }
    }
  }

  /// Makes a write that depends on `finding`, if that still stands; nil where it does not.
  @inlinable
  func attempt(
    _ replacement: Replacement, replacing finding: Finding, forKey key: Key, hash: UInt64, storing: Storing,
    effect: WriteEffect, context: WriterContext?
  ) -> Written<Value>? {
    switch replacement {
    case .keep:
      return Written(value: finding.value, outcome: .nothing)
    case .remove:
      let outcome = remove(key, if: .unchanged(since: finding.version), context: context)
      return outcome.map { Written(value: nil, outcome: $0) }
    case .store(let value):
      let storing = keepingTags(of: finding, storing)
      if let edited = finding.edited {
        return attempt(
          value, under: edited, replacing: finding, forKey: key, hash: hash, storing: storing, effect: effect,
          context: context)
      }
      let isSame = finding.usable.map { isEqual?($0, value) ?? false } ?? false
      let writing = prepare(value, forKey: key, storing: storing)
      // The same value again concerns no write that depends on it. Other tags do: such a write would keep the older ones.
      let isUpkeep = isSame && effect == .arrival && writing.arrival?.timing.tags == finding.timing.tags
      let terms = WriteTerms<Value>(
        if: .unchanged(since: finding.version, of: finding.flight), effect: isUpkeep ? .upkeep : effect,
        context: context, isAnnounced: !isSame)
      let outcome = commit(writing, forKey: key, hash: hash, terms)
      return outcome.map { Written(value: value, outcome: $0, encodingError: writing.encodingError) }
    }
  }

  /// As `attempt`, where unconfirmed edits lie over the key: the value is the confirmed one.
  @usableFromInline
  func attempt(
    _ value: Value, under present: EditedKeys<Key, Value>.Edited, replacing finding: Finding, forKey key: Key,
    hash: UInt64, storing: Storing, effect: WriteEffect, context: WriterContext?
  ) -> Written<Value>? {
    var edited = present
    edited.queue.replaceBase(by: value)
    edited.shown = edited.queue.shown()
    return show(
      edited, replacing: finding, forKey: key, hash: hash, storing: storing, effect: effect, context: context)
  }

  /// Reads, decides and writes, until nobody wrote in between. `decide` may be called several times.
  ///
  /// - Parameter decide: given what was found, says what becomes of the key.
  @inlinable
  func rewrite<Failure: Error>(
    _ key: Key, hash: UInt64, storing: Storing, effect: WriteEffect, context: WriterContext?,
    _ decide: (Finding) throws(Failure) -> Replacement
  ) throws(Failure) -> Written<Value> {
    table.watch(hash)
    defer { table.unwatch(hash) }
    while true {
      let finding = find(key, hash: hash)
      let replacement = try decide(finding)
      let written = attempt(
        replacement, replacing: finding, forKey: key, hash: hash, storing: storing, effect: effect, context: context)
      if let written { return written }
    }
  }
}
