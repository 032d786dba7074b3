// Writes of several keys that are made as one.

extension ConditionalWriter {
  /// Reads keys, decides on all of them, and writes them at once. Begins again if one of them is written in between.
  ///
  /// - Parameters:
  ///   - keys: The keys.
  ///   - context: The writer.
  ///   - dependsOnCached: Whether `plan` needs the cached values.
  ///   - plan: Returns the write of a key. May be called several times for each.
  /// - Returns: The outcome in the second tier.
  /// - Throws: The error of `plan`, and `CisternError` if the batch is too large.
  @inlinable
  func writeTogether(
    _ keys: [Key], context: WriterContext?, dependsOnCached: Bool,
    _ plan: (Key, Snapshot) throws(CisternError) -> PlannedWrite<Value>
  ) throws(CisternError) -> WriteOutcome {
    let hashed = keys.map { table.hashed($0) }
    for key in hashed { table.watch(key) }
    defer { for key in hashed { table.unwatch(key) } }
    while true {
      let (written, prepared) = try prepareTogether(hashed, context: context, dependsOnCached: dependsOnCached, plan)
      if prepared.isEmpty { return .nothing }
      try writes.checkSize(of: prepared)
      if let outcome = try writes.applyTogether(prepared, to: written, context: context) { return outcome }
    }
  }

  /// Reads watched keys, and prepares their writes. Returns the keys that have one. Throws if a key does not equal
  /// itself.
  @inlinable
  func prepareTogether(
    _ keys: [HashedKey<Key>], context: WriterContext?, dependsOnCached: Bool,
    _ plan: (Key, Snapshot) throws(CisternError) -> PlannedWrite<Value>
  ) throws(CisternError) -> (keys: [HashedKey<Key>], writes: [PreparedWrite<Key, Value>]) {
    var written: [HashedKey<Key>] = []
    var prepared: [PreparedWrite<Key, Value>] = []
    for key in keys {
      guard key.key == key.key else { throw .unequalKey(key.key, in: "writing several keys") }
      let snapshot = records.snapshot(of: key, readsValue: dependsOnCached)
      let planned = try plan(key.key, snapshot)
      guard let write = try prepare(planned, of: key, replacing: snapshot, context: context) else { continue }
      prepared.append(write)
      written.append(key)
    }
    return (written, prepared)
  }

  /// Prepares the write of one key. Returns nil if the key stays as it is. Throws if a value cannot be encoded.
  @inlinable
  func prepare(
    _ planned: PlannedWrite<Value>, of key: HashedKey<Key>, replacing snapshot: Snapshot, context: WriterContext?
  ) throws(CisternError) -> PreparedWrite<Key, Value>? {
    switch planned.replacement {
    case .keep:
      return nil
    case .remove:
      records.endUnnoticed(key, isCounted: true)
      return PreparedWrite(
        removing: secondTier?.bytes(key.key), if: snapshot.condition, stagesAlways: true, context: context)
    case .store(let value):
      records.noticeExpiry(of: key)
      let options = ReplacementOptions(planned.writeOptions, effect: planned.effect, context: context)
      let (write, encodingError) = prepare(value, of: key, replacing: snapshot, options: options)
      if let encodingError { throw notEncodable(key.key, encodingError) }
      return write
    }
  }

  /// Plans the write of a key in a batch or a draft. If the cache merges, the value is merged with the cached one.
  @inlinable
  func plan(
    _ write: KeyWrite<Value>, _ writeOptions: WriteOptions, for key: Key, over snapshot: Snapshot
  ) throws(CisternError) -> PlannedWrite<Value> {
    let result = try write.value(over: snapshot.usable) { incoming, earlier throws(CisternError) in
      try merged(incoming, over: earlier, for: key)
    }
    guard let result else { return PlannedWrite(.remove) }
    return PlannedWrite(.store(result), writeOptions, effect: write.replaces ? .replacement : newValueEffect)
  }

  @usableFromInline
  func notEncodable(_ key: Key, _ error: any Error) -> CisternError {
    CisternError(
      .notEncodable, "a value of a batch could not be encoded; nothing of the batch was stored",
      location: reports.location(of: key), cause: error)
  }
}
