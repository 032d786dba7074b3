extension Cache {
  /// Calls `body` with the encoded value of a key, straight from the disk's map: nothing is copied or decoded, and
  /// memory is not filled. Nil where there is none, or it has expired, and in a cache without a store, which has no codec.
  ///
  /// The view ends with `body`, which the compiler checks. `body` runs inside a read transaction, under no lock: it may
  /// use the cache, and should be short, because the disk's space cannot be reused meanwhile.
  ///
  /// Nil, too, where what is known is that there is nothing (``OptionalValue``).
  ///
  /// A value that only memory holds is encoded first, and one that an older version of the schema wrote is migrated first:
  /// `body` sees the bytes of the cache's own version only. O(log n) for n entries on disk.
  @inlinable
  public func withBytes<Result, Failure: Error>(
    forKey key: Key, _ body: (RawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    let hash = table.hash(key)
    if let secondTier {
      var outcome: Swift.Result<Result, Failure>?
      var isOlder = false
      var shown: RecordMetadata?
      secondTier.view(key) { metadata, bytes in
        guard metadata.schemaVersion == schemaVersion else {
          isOlder = metadata.schemaVersion < schemaVersion
          return
        }
        guard !metadata.isNegative, !isExpired(metadata) else { return }
        if metadata.idle != 0 { shown = metadata }
        do throws(Failure) { outcome = .success(try body(bytes)) } catch { outcome = .failure(error) }
      }
      if let outcome {
        table.count(hash) { $0.diskHits += 1 }
        if let shown { noteUse(ofRecord: shown, forKey: key, hash: hash) }
        return try outcome.get()
      }
      if isOlder {
        guard let bytes = migratedBytes(key) else { return nil }
        return try body(bytes.rawSpan)
      }
    }
    guard let bytes = encodedInMemory(key, hash: hash) else {
      table.countMiss()
      return nil
    }
    table.count(hash) { $0.memoryHits += 1 }
    noteUse(ofKey: key, hash: hash)
    return try body(bytes.rawSpan)
  }

  /// The encoding of a value that memory holds; nil where there is none, or it cannot be encoded. Of a key that unconfirmed
  /// edits lie over, that of the confirmed value.
  @usableFromInline
  func encodedInMemory(_ key: Key, hash: UInt64) -> [UInt8]? {
    guard let codec else { return nil }
    // Why it could not be encoded was reported when it was stored.
    if edits.isEmpty {
      let held = table.peek(key, hash: hash)
      // Still: else what was seen may be what an edit shows.
      if edits.isEmpty {
        return held.flatMap { $0.isExpired(at: now()) ? nil : codec.shownBytes(of: $0.value) }
      }
    }
    return confirmedValue(ofKey: key, hash: hash).flatMap { codec.shownBytes(of: $0) }
  }

  /// The fresh value of a key, without unconfirmed edits.
  func confirmedValue(ofKey key: Key, hash: UInt64) -> Value? { find(key, hash: hash, while: {}).0.value }
}
