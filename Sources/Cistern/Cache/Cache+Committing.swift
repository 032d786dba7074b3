// A write's critical section, and what follows it.

extension Cache {
  /// Stores a value: as it is, or as what the cache makes of it and of what it has.
  ///
  /// Throws where the two cannot be merged, which is reported; what is cached stays.
  @inlinable
  @inline(__always)
  func write(
    _ value: Value, forKey key: Key, storing: Storing, context: WriterContext?
  ) throws(CisternError) -> Written<Value> {
    let hash = table.hash(key)
    noticeExpiry(ofKey: key, hash: hash)
    if !dependsOnCached {
      let writing: Writing<Value>
      if storesPlainly, case nil = storing.expiry, storing.namedTags.isEmpty {
        let cost = cost(of: value, encodedSize: 1)
        if table.set(value, cost: cost, forKey: key, hash: hash) {
          return Written(value: value, outcome: .nothing)
        }
        let arrival = Arrival(value: value, cost: cost, timing: .plain(until: .distantFuture))
        writing = Writing(arrival: arrival, staged: nil, encodingError: nil)
      } else {
        writing = prepare(value, forKey: key, storing: storing)
      }
      if let outcome = commit(writing, forKey: key, hash: hash, WriteTerms(context: context)) {
        return Written(value: value, outcome: outcome, encodingError: writing.encodingError)
      }
    }
    return try arrive(value, forKey: key, hash: hash, storing: storing, context: context)
  }

  /// The critical section of every store, and what follows it.
  ///
  /// - Returns: nil where the terms' condition did not hold: then nothing has happened.
  @inlinable
  @discardableResult
  func commit(
    _ writing: Writing<Value>, forKey key: Key, hash: UInt64, _ terms: WriteTerms<Value>
  ) -> WriteOutcome? {
    var outcome = WriteOutcome.nothing
    // Nil until the condition is known to hold.
    var isKept: Bool?
    let applied = table.write(
      writing.arrival, forKey: key, hash: hash, if: terms.condition, effect: terms.effect,
      count: { counters in
        switch isKept {
        case true?: counters.stores += 1
        case false?: counters.refused += 1
        case nil: break
        }
      }
    ) { had, isHeld, _ in
      let hadValue = hadValue(had, keyBytes: writing.staged?.key)
      var isPersisted = false
      if let write = writing.staged, let secondTier {
        let staged = stamped(write, broughtBy: terms.condition.flight)
        switch secondTier.partition.stage(staged) {
        case .staged(let ticket):
          outcome = .staged(ticket)
          if case .record = staged { isPersisted = true }
        case .refused:
          outcome = .refused(size: staged.stagedSize)
        }
      }
      let keeps = isHeld || isPersisted
      isKept = keeps
      if observers.isObserved {
        let tags = tags(of: had, and: writing.arrival)
        if keeps {
          if terms.isAnnounced, let value = writing.arrival?.value {
            observers.record(
              hadValue ? .updated(key, value) : .inserted(key, value), context: terms.context, tags: tags)
          }
        } else if hadValue {
          observers.record(.removed(key, .refused), context: terms.context, tags: tags)
        }
      }
      return isPersisted
    }
    if case .refused(let size) = outcome { reportRefusal(size: size, ofKey: key) }
    deliverChanges()
    return applied ? outcome : nil
  }

  /// Removes a key; nil where the condition did not hold.
  @inlinable
  @discardableResult
  func remove(
    _ key: Key, if condition: WriteCondition<Value> = .always, stagingAlways: Bool = false, context: WriterContext?
  ) -> WriteOutcome? {
    let keyBytes = secondTier?.bytes(key)
    let hash = table.hash(key)
    noticeExpiry(ofKey: key, hash: hash)
    var outcome = WriteOutcome.nothing
    var hadAny = false
    // Let go of outside the lock.
    var edited: EditedKeys<Key, Value>.Edited?
    defer { withExtendedLifetime(edited) {} }
    let applied = table.write(nil, forKey: key, hash: hash, if: condition, edits: .ended) { had, _, _ in
      if !edits.isEmpty { edited = edits.set(nil, for: key) }
      // Nil where the second tier cannot tell.
      let presence: Bool? = had != nil ? true : presence(of: keyBytes)
      let isThere = presence ?? false
      // A newer schema's record is removed, too. Readers and observers take its key for absent.
      let isReadable = isThere && (had != nil || !isForeign(keyBytes))
      hadAny = edited.map { $0.shown != nil } ?? isReadable
      guard hadAny || isThere || stagingAlways || edited != nil || presence == nil else { return false }
      if let keyBytes, let secondTier {
        switch secondTier.partition.stage(.removal(key: keyBytes)) {
        case .staged(let ticket): outcome = .staged(ticket)
        case .refused: outcome = .refused(size: 0)
        }
      }
      if hadAny, observers.isObserved {
        observers.record(.removed(key, .explicit), context: context, tags: had?.timing.tags ?? [])
      }
      return false
    }
    if hadAny { table.count(hash) { $0.removals += 1 } }
    deliverChanges()
    return applied ? outcome : nil
  }

  /// The tags by which observers hear of a change: those of the value that went, and of the one that came.
  @inlinable
  func tags(of had: Held<Value>?, and arrival: Arrival<Value>?) -> [String] {
    (had?.timing.tags ?? []) + (arrival?.timing.tags ?? [])
  }

  /// Whether the key had a value in either tier. Asks the second one only where somebody wants to know.
  @inlinable
  func hadValue(_ had: Held<Value>?, keyBytes: [UInt8]?) -> Bool {
    guard had == nil else { return true }
    guard observers.isObserved, let keyBytes else { return false }
    return isPersisted(keyBytes) && !isForeign(keyBytes)
  }

  /// Whether a newer version of the schema wrote the key's record: every reader takes the key for absent.
  @usableFromInline
  func isForeign(_ keyBytes: [UInt8]?) -> Bool {
    guard let keyBytes, let secondTier else { return false }
    return secondTier.partition.schemaVersion(of: keyBytes.rawSpan).map { $0 > schemaVersion } ?? false
  }

  @inlinable
  func isPersisted(_ keyBytes: [UInt8]) -> Bool {
    guard let secondTier else { return false }
    return secondTier.partition.contains(keyBytes.rawSpan)
  }

  /// Whether the second tier has the key; nil where it cannot tell for now.
  @inlinable
  func presence(of keyBytes: [UInt8]?) -> Bool? {
    guard let secondTier, let keyBytes else { return false }
    return secondTier.partition.presence(of: keyBytes.rawSpan)
  }

  /// Returns when a write is on disk.
  @usableFromInline
  nonisolated(nonsending) func waitForCommit(
    _ outcome: WriteOutcome?, encodingError: (any Error)? = nil, forKey key: Key
  ) async throws(CisternError) {
    if let encodingError {
      throw CisternError(
        .notEncodable,
        weigher == nil
          ? "the value could not be encoded; its size is not known, and it is not stored"
          : "the value could not be encoded; it is in memory only",
        location: location(of: key), cause: encodingError)
    }
    switch outcome {
    case .nothing, nil:
      break
    case .staged(let ticket):
      try await secondTier?.partition.waitForCommit(ticket)
    case .refused(let size):
      throw refusal(size: size, location: location(of: key))
    }
  }

  /// Why the second tier would not take a write of this size.
  func refusal(size: Int, location: String) -> CisternError {
    let (code, message): (CisternError.Code, String) =
      switch secondTier?.partition.mode {
      case .readOnly?: (.readOnly, "the store is read-only; what is written is in memory only")
      case .closed?: (.storeClosed, "the store is closed; what is written is in memory only")
      case .active? where secondTier?.partition.canHold(batchBytes: size, count: 1) == false:
        (.tooLarge, "the write is larger than the second tier can ever hold; it is in memory only, if that can hold it")
      case .active?, .degraded?, nil: (.diskFailed, "the second tier would not take the write: it fails")
      }
    return CisternError(code, message, location: location)
  }

  /// Reports a write that the second tier would not take, where that is for its size: it will not the next time either.
  @usableFromInline
  @inline(never)
  func reportRefusal(size: Int, ofKey key: Key) {
    let refusal = refusal(size: size, location: location(of: key))
    guard refusal.code == .tooLarge else { return }
    report(StoreReport(.refused, refusal.message, location: refusal.location))
  }
}
