import Synchronization

// Uses of values with a time to idle. Memory notes each use, and the second tier gets some of them.

extension SecondTierReader {
  /// Writes the record of a key again with a new time of its last use, if memory still holds the value with these uses.
  ///
  /// Observers are not notified. The function reads and stages outside the critical section of the use, and never
  /// waits.
  @usableFromInline
  @inline(never)
  func writeUse(_ lastAccess: LastAccess, of key: HashedKey<Key>) {
    guard let secondTier, let record = secondTier.read(key.key), let rewriting = used(record, of: key.key) else {
      return
    }
    apply(rewriting, to: key, if: .inUse(lastAccess))
  }

  /// Notes a use of the value in memory, if the look-up did not.
  @usableFromInline
  func noteUse(of key: HashedKey<Key>) {
    guard table.hasIdleTimes.load(ordering: .relaxed), let held = table.peek(key) else { return }
    let now = lifetimes.clock.now()
    held.noteUse(at: now)
    if let lastAccess = held.takeAccessForDisk(at: now) { writeUse(lastAccess, of: key) }
  }

  /// Notes a use of a record that was read from the second tier alone.
  @usableFromInline
  func noteUse(ofRecord metadata: RecordMetadata, of key: HashedKey<Key>) {
    guard metadata.idle != 0 else { return }
    noteUse(of: key)
    // Memory has no value, or another one.
    guard lifetimes.isUseDue(metadata),
      let (writeVersion, invalidationVersion) = table.versionsIfUnheld(key),
      let secondTier, let record = secondTier.read(key.key), lifetimes.isUseDue(record.metadata),
      let rewriting = used(record, of: key.key)
    else { return }
    apply(rewriting, to: key, if: .untouched(writeVersion: writeVersion, invalidationVersion: invalidationVersion))
  }

  private func apply(_ rewriting: RecordRewrite, to key: HashedKey<Key>, if condition: WriteCondition<Value>) {
    var write = PreparedWrite<Key, Value>(
      .noteUse, MemoryWrite(nil, if: condition), tierWrite: rewriting.tierWrite, keyBytes: nil)
    write.recordCondition = .identity(rewriting.replaced)
    writes.apply(write, to: key)
  }

  /// Returns the record with a new time of its last use, to replace the record that was read. Returns nil if a use
  /// would not be due for the tier.
  @usableFromInline
  func rewritingUse(_ record: StoredRecord, of key: Key) -> RecordRewrite? {
    lifetimes.isUseDue(record.metadata) ? used(record, of: key) : nil
  }

  /// Notes the use of a value that is promoted, if the read returns it. Returns the record to write in place of the one
  /// that was read, or nil for none.
  @usableFromInline
  func noteUseAndTakeRewrite(of found: DecodedRecord<Value>, _ hit: RecordHit) -> RecordRewrite? {
    guard hit != .uncounted, let lastAccess = found.timing.lastAccess else {
      // A read that does not return the value is no use.
      return found.rewriting.flatMap { $0.reason == .migration ? $0 : nil }
    }
    let now = lifetimes.clock.now()
    lastAccess.note(at: now)
    guard let rewriting = found.rewriting else { return nil }
    return rewriting.reason == .migration || lastAccess.takeForDisk(at: now) ? rewriting : nil
  }

  /// Returns the same record with a new time of its last use. Returns nil if the tier takes no writes, or if another
  /// schema version wrote the record.
  private func used(_ record: StoredRecord, of key: Key) -> RecordRewrite? {
    guard let secondTier, secondTier.partition.mode == .active, record.metadata.schemaVersion == schemaVersion,
      record.metadata.idle != 0
    else { return nil }
    var metadata = record.metadata
    metadata.lastUsed = lifetimes.wallTimeOfWrite()
    return RecordRewrite(
      tierWrite: .record(key: secondTier.bytes(key), metadata, bytes: record.bytes), replacing: record.identity,
      for: .use)
  }
}
