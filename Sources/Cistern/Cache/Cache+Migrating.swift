// Records that another version of the cache's schema wrote (`CacheSchema`).

extension Cache {
  /// What a record of another version is worth. Runs the user's migration, and the codec: outside all locks and
  /// transactions.
  @usableFromInline
  @inline(never)
  func interpretOther(
    _ record: StoredRecord, forKey key: Key
  ) -> Interpretation<Value> {
    let version = record.metadata.schemaVersion
    guard version < schemaVersion else { return .foreign }
    guard let timing = timing(of: record.metadata, pausedFor: key) else { return .worthless(.expired, record.identity) }
    guard let migrated = migrated(record, forKey: key) else { return .worthless(.outdated, record.identity) }
    let encoded = encode(migrated, forKey: key)
    let cost = cost(of: migrated, encodedSize: encoded.size)
    var rewriting: Rewriting?
    // One that cannot be encoded is migrated again when it is wanted again.
    if let bytes = encoded.bytes, let secondTier, secondTier.partition.mode == .active {
      var metadata = record.metadata
      metadata.cost = cost
      metadata.schemaVersion = schemaVersion
      metadata.isNegative = codec?.isAbsent(migrated) ?? false
      rewriting = Rewriting(
        staged: .record(key: secondTier.bytes(key), metadata, bytes: bytes), replacing: record.identity,
        isMigration: true)
    }
    return .usable(Arrival(value: migrated, cost: cost, timing: timing), rewriting: rewriting)
  }

  /// What the user's migration makes of a record; nil where it is to be dropped.
  private func migrated(_ record: StoredRecord, forKey key: Key) -> Value? {
    // That there is nothing means the same in every version.
    if record.metadata.isNegative { return codec?.absence?.value }
    guard let migrate else { return nil }
    do {
      return try migrate(record.bytes, record.metadata.schemaVersion)
    } catch {
      report(
        StoreReport(
          .notMigrated,
          "a record of version \(record.metadata.schemaVersion) could not be migrated to version \(schemaVersion) and was removed; it is fetched again when it is wanted",
          location: location(of: key), cause: error))
      return nil
    }
  }

  /// The bytes of a key whose record is of an older version, in the cache's own; the record is migrated as by a look-up.
  @usableFromInline
  func migratedBytes(_ key: Key) -> [UInt8]? {
    let value = edits.isEmpty ? value(forKey: key) : confirmedValue(ofKey: key, hash: table.hash(key))
    return value.flatMap { codec?.shownBytes(of: $0) }
  }
}
