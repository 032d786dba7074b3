import Synchronization

// Uses of values that are gone once nobody uses them: memory notes each, and the second tier hears of some.

extension Cache {
  /// Writes a key's record again, as last used now, if it still is that of the value with these uses. Nobody is told.
  /// Reads and stages, outside the critical section of the use; never waits.
  @usableFromInline
  @inline(never)
  func writeUse(_ uses: Uses, ofKey key: Key, hash: UInt64) {
    guard let secondTier, let record = secondTier.read(key), let rewriting = used(record, forKey: key) else { return }
    table.whileInUse(uses, forKey: key, hash: hash) {
      let result = secondTier.partition.stage(rewriting.staged, replacing: rewriting.replaced)
      return if case .staged = result { true } else { false }
    }
  }

  /// Notes a use of what memory has, where the look-up did not.
  @usableFromInline
  func noteUse(ofKey key: Key, hash: UInt64) {
    guard hasIdleTimes.load(ordering: .relaxed), let held = table.peek(key, hash: hash) else { return }
    let now = clock.now()
    held.noteUse(at: now)
    if let uses = held.takeUseForDisk(at: now) { writeUse(uses, ofKey: key, hash: hash) }
  }

  /// Notes a use of what the second tier alone was asked for.
  @usableFromInline
  func noteUse(ofRecord metadata: RecordMetadata, forKey key: Key, hash: UInt64) {
    guard metadata.idle != 0 else { return }
    noteUse(ofKey: key, hash: hash)
    // Memory has nothing, or nothing that it knows to be the same.
    guard isUseDue(metadata), case .absent(let stamp, let era) = table.lookUp(key, hash: hash, at: now()),
      let secondTier, let record = secondTier.read(key), isUseDue(record.metadata),
      let rewriting = used(record, forKey: key)
    else { return }
    table.write(nil, forKey: key, hash: hash, if: .untouched(stamp: stamp, era: era), effect: .upkeep) { _, _, _ in
      if case .refused = secondTier.partition.stage(rewriting.staged, replacing: rewriting.replaced),
        observers.isObserved
      {
        observers.record(.removed(key, .refused))
      }
      return false
    }
    deliverChanges()
  }

  /// The record that tells of a use now, to be written in the place of one that was read and is to be used; nil where none
  /// is due.
  @usableFromInline
  func rewritingUse(
    _ record: StoredRecord, timing: Timing, forKey key: Key
  ) -> Rewriting? {
    guard case .detailed(let life) = timing, life.takeUseForDisk(at: clock.now()) != nil else { return nil }
    return used(record, forKey: key)
  }

  /// The same record, as last used now; nil where the tier takes no writes, or it is of another version of the schema.
  private func used(_ record: StoredRecord, forKey key: Key) -> Rewriting? {
    guard let secondTier, secondTier.partition.mode == .active, record.metadata.schemaVersion == schemaVersion,
      record.metadata.idle != 0
    else { return nil }
    var metadata = record.metadata
    metadata.lastUsed = wallNow()
    return Rewriting(
      staged: .record(key: secondTier.bytes(key), metadata, bytes: record.bytes), replacing: record.identity,
      isMigration: false)
  }

  private func isUseDue(_ metadata: RecordMetadata) -> Bool {
    guard let unused = wallNow().nanoseconds(since: metadata.lastUsed ?? metadata.created) else { return false }
    return unused >= max(1, metadata.idle / 4)
  }
}
