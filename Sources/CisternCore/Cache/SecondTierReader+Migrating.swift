// Records of other versions of the cache's schema (`CacheSchema`).

extension SecondTierReader {
  /// Interprets a record of another version. Runs the user's migration and the codec, outside all locks and
  /// transactions.
  @usableFromInline
  @inline(never)
  func interpretOther(_ record: StoredRecord, of key: HashedKey<Key>) -> RecordInterpretation<Value> {
    let version = record.metadata.schemaVersion
    guard version < schemaVersion else { return .foreign }
    guard let timing = lifetimes.timing(of: record.metadata, pausedFor: key) else {
      return .unusable(.expired, record.identity)
    }
    guard let migrated = migrated(record, of: key.key) else { return .unusable(.outdated, record.identity) }
    let encoded = writes.bytes(of: migrated, for: key)
    let cost = writes.cost(of: migrated, encodedSize: encoded.size)
    var rewriting: RecordRewrite?
    // A value that cannot be encoded is migrated again by the next look-up.
    if let bytes = encoded.bytes, let secondTier, secondTier.partition.mode == .active {
      var metadata = record.metadata
      metadata.cost = cost
      metadata.schemaVersion = schemaVersion
      metadata.isNegative = codec?.isAbsent(migrated) ?? false
      rewriting = RecordRewrite(
        tierWrite: .record(key: secondTier.bytes(key.key), metadata, bytes: bytes), replacing: record.identity,
        for: .migration)
    }
    return .usable(DecodedRecord(PreparedValue(value: migrated, cost: cost, timing: timing), rewriting: rewriting))
  }

  /// Returns the value that the user's migration makes of a record; nil if the record must be dropped.
  private func migrated(_ record: StoredRecord, of key: Key) -> Value? {
    // Known absence means the same in every version.
    if record.metadata.isNegative { return codec?.absence?.value }
    guard let migrate else { return nil }
    do {
      return try migrate(record.bytes, record.metadata.schemaVersion)
    } catch {
      reports.send(
        StoreReport(
          .notMigrated,
          "a record of version \(record.metadata.schemaVersion) could not be migrated to version \(schemaVersion) and was removed; the next load fetches it again",
          location: reports.location(of: key), cause: error))
      return nil
    }
  }
}
