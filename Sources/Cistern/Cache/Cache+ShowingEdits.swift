// How unconfirmed edits are shown: memory and observers have what the edits make of the confirmed value, the disk has the
// confirmed value alone.

extension Cache {
  /// What became of a key's edits.
  enum EditStep {
    /// There was nothing to do.
    case nothing
    /// They show something else.
    case shows
    /// The confirmed value is another.
    case confirms
    /// The confirmed value is another, and what is shown is the same.
    case confirmsWhatIsShown
  }

  /// Changes the edits of a key, and shows what they make of the confirmed value, until nobody wrote in between.
  ///
  /// - Parameters:
  ///   - given: the terms of a value that is confirmed.
  ///   - step: changes the edits; given the confirmed value below them, nil where its time is up. May be called several times.
  /// - Returns: the edits as they are now; nil where there was nothing to do.
  @discardableResult
  func settle<Failure: Error>(
    _ key: Key, hash: UInt64, storing given: Storing = Storing(), context: WriterContext?,
    _ step: (inout EditQueue<Value>, _ usable: Value?) throws(Failure) -> EditStep
  ) throws(Failure) -> EditedKeys<Key, Value>.Edited? {
    while true {
      let finding = find(key, hash: hash)
      var edited = finding.edited ?? EditedKeys.Edited(queue: EditQueue(base: finding.usable), timing: finding.timing)
      let taken = try step(&edited.queue, finding.usable)
      if case .nothing = taken { return nil }
      edited.shown = edited.queue.shown()
      var storing: Storing?
      switch taken {
      case .nothing, .shows: break
      case .confirms, .confirmsWhatIsShown: storing = keepingTags(of: finding, given)
      }
      var isSame = false
      if case .confirmsWhatIsShown = taken { isSame = true }
      let written = show(
        edited, replacing: finding, forKey: key, hash: hash, storing: storing, effect: .replacement, context: context,
        isAnnounced: !isSame)
      if written != nil { return edited }
    }
  }

  /// What is to be written so that edits are shown.
  @usableFromInline
  struct ShownWrite {
    var edited: EditedKeys<Key, Value>.Edited
    /// What memory is to hold.
    @usableFromInline let arrival: Arrival<Value>?
    /// What the disk is to hold of what is confirmed; nil where that is as it was.
    @usableFromInline let staged: StagedWrite?
    let keyBytes: [UInt8]?
    @usableFromInline let encodingError: (any Error)?
    /// Whether observers are notified.
    let isAnnounced: Bool
    /// Why the key has no value, if nothing is shown.
    let removalCause: RemovalCause
    /// The change of the confirmed value; nil for none.
    let confirmation: Confirmation?

    /// What is to be kept beside memory; nil where all is settled.
    @usableFromInline var kept: EditedKeys<Key, Value>.Edited? { edited.queue.isSettled ? nil : edited }

    /// The event for observers.
    ///
    /// - Parameter existed: whether observers take the key to have a value.
    @usableFromInline
    func event(of key: Key, existed: Bool) -> Change<Key, Value>.Event? {
      guard isAnnounced else { return nil }
      guard let shown = edited.shown else { return existed ? .removed(key, removalCause) : nil }
      return existed ? .updated(key, shown) : .inserted(key, shown)
    }
  }

  /// The change of a confirmed value below edits, for the statistics.
  enum Confirmation: Sendable {
    case stored, removed, refused
  }

  /// Weighs and encodes: outside all locks.
  func prepare(
    _ new: EditedKeys<Key, Value>.Edited, replacing finding: Finding, forKey key: Key, storing: Storing?,
    isAnnounced: Bool = true
  ) -> ShownWrite {
    var edited = new
    let keyBytes = secondTier?.bytes(key)
    var staged: StagedWrite?
    var encodingError: (any Error)?
    var confirmation: Confirmation?
    if let storing {
      let writing = edited.queue.base.map { prepare($0, forKey: key, storing: storing) }
      staged = writing?.staged ?? keyBytes.map { .removal(key: $0) }
      encodingError = writing?.encodingError
      confirmation = .stored
      if case nil = writing { confirmation = finding.usable.map { _ in .removed } }
      edited.timing = writing?.arrival?.timing ?? .plain(until: .distantFuture)
      // A lifetime of zero: nothing is to be stored.
      if let writing, writing.arrival == nil {
        edited.queue.replaceBase(by: nil)
        edited.shown = edited.queue.shown()
        confirmation = .refused
      }
    }
    let isSettled = edited.queue.isSettled
    if isSettled, edited.timing.freshness(at: clock.now()) == .gone {
      edited.shown = nil
      // Its record goes too: a read that finds it would announce its end again.
      if case nil = staged { staged = keyBytes.map { .removal(key: $0) } }
    }
    // Its tags are those of the confirmed value: who removes that by one removes what is shown.
    let timing =
      isSettled
      ? edited.timing : Timing(freshUntil: .distantFuture, tags: edited.timing.tags, now: MonotonicTime(nanoseconds: 0))
    if !timing.isForever { hasDeadlines.store(true, ordering: .relaxed) }
    let arrival = edited.shown.map { Arrival(value: $0, cost: shownCost(of: $0), timing: timing) }
    return ShownWrite(
      edited: edited, arrival: arrival, staged: staged, keyBytes: keyBytes, encodingError: encodingError,
      isAnnounced: isAnnounced && !isSame(edited.shown, asShownBy: finding),
      removalCause: finding.isGoneUnderEdits ? .expired : .explicit, confirmation: confirmation)
  }

  /// Makes memory and observers show what is edited, and the disk hold what is confirmed, if `finding` still stands; nil
  /// where it does not.
  func show(
    _ new: EditedKeys<Key, Value>.Edited, replacing finding: Finding, forKey key: Key, hash: UInt64,
    storing: Storing?, effect: WriteEffect, context: WriterContext?, isAnnounced: Bool = true
  ) -> Written<Value>? {
    let write = prepare(new, replacing: finding, forKey: key, storing: storing, isAnnounced: isAnnounced)
    var outcome = WriteOutcome.nothing
    var former: EditedKeys<Key, Value>.Edited?
    defer { withExtendedLifetime(former) {} }
    let applied = table.write(
      write.arrival, forKey: key, hash: hash, if: .unchanged(since: finding.version, of: finding.flight),
      effect: effect, edits: .shown(isSettled: write.kept == nil, keepsFlight: storing == nil)
    ) { had, isHeld, _ in
      // A value without edits may have been evicted since it was found, also to make room for this one. Asked before
      // anything is staged.
      let existed = finding.edited.map { _ in finding.existed } ?? hadValue(had, keyBytes: write.keyBytes)
      former = edits.set(write.kept, for: key)
      if let confirmed = write.staged, let secondTier {
        let staged = stamped(confirmed, broughtBy: finding.flight)
        switch secondTier.partition.stage(staged) {
        case .staged(let ticket): outcome = .staged(ticket)
        case .refused: outcome = .refused(size: staged.stagedSize)
        }
      }
      let isPersisted = write.keyBytes.map { self.isPersisted($0) } ?? false
      // What is shown is kept beside memory while it is not settled: its eviction ends nothing.
      let isKept = write.kept != nil || isHeld || isPersisted || write.arrival == nil
      if observers.isObserved {
        let tags = tags(of: had, and: write.arrival)
        if !isKept, existed {
          observers.record(.removed(key, .refused), context: context, tags: tags)
        } else if isKept, let event = write.event(of: key, existed: existed) {
          observers.record(event, context: context, tags: tags)
        }
      }
      return write.kept != nil || isPersisted
    }
    if applied, let confirmation = write.confirmation {
      table.count(hash) { counters in
        switch confirmation {
        case .stored: counters.stores += 1
        case .removed: counters.removals += 1
        case .refused: counters.refused += 1
        }
      }
    }
    deliverChanges()
    return applied
      ? Written(value: write.edited.shown, outcome: outcome, encodingError: write.encodingError) : nil
  }

  /// The cost of a shown value in memory. One that cannot be encoded, whose size is not known, is larger than any limit: it
  /// is kept with its edits.
  private func shownCost(of value: Value) -> UInt32 {
    guard weigher == nil, let codec else { return cost(of: value, encodedSize: 1) }
    return cost(of: value, encodedSize: codec.encodedSize(value) ?? (try? codec.encode(value).count) ?? .max)
  }

  private func isSame(_ shown: Value?, asShownBy finding: Finding) -> Bool {
    guard let isEqual, let shown, let former = finding.shown else { return false }
    return isEqual(former, shown)
  }

  /// What edits show of a key that memory does not hold; nil where none lie over it.
  @inlinable
  func shownByEdits(_ key: Key) -> Value?? {
    edits.isEmpty ? nil : shownByLiveEdits(key)
  }

  @usableFromInline
  func shownByLiveEdits(_ key: Key) -> Value?? { edits[key].map(\.shown) }

  /// Stores what a flight brought as the confirmed value, where edits lie over the flight's own entry.
  @usableFromInline
  func publishUnderEdits(
    _ value: Value, of flight: Flight<Value>, forKey key: Key, hash: UInt64, storing: Storing
  ) {
    table.watch(hash)
    defer { table.unwatch(hash) }
    while true {
      let finding = find(key, hash: hash, isOwnOf: flight)
      guard finding.flight != nil, !flight.isInvalidated else { return }
      let written = attempt(
        .store(value), replacing: finding, forKey: key, hash: hash, storing: storing, effect: .replacement,
        context: nil)
      if written != nil { return }
    }
  }
}
