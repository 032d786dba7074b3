extension Cache {
  /// Calls `body` with the encoded value of a key, directly in the map of the disk.
  ///
  /// The call copies and decodes nothing, and does not fill memory. The view ends with `body`, which the compiler
  /// checks. `body` runs inside a read transaction, under no lock. It may use the cache, and should be short: the space
  /// on disk cannot be reused during the transaction. Writes in `body` do not wait for room, so memory holds all of
  /// them until their commit. `body` must not wait for a task that closes a store: the close waits for `body`.
  ///
  /// On disk, the checksum of the whole record is verified before `body` runs. A damaged record is a miss, and is
  /// removed. A value that waits for its commit is shown from the bytes that will be written. A value that only memory
  /// holds is encoded first. A value that an older version of the schema wrote is migrated first, so `body` gets bytes
  /// of the cache's own version only.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - body: The closure that receives the bytes.
  /// - Returns: The result of `body`. Nil for a key without a fresh value, for known absence (``OptionalValue``), and
  ///   in a cache without a store, which has no codec.
  /// - Throws: The error of `body`.
  /// - Complexity: O(log *n*) for *n* entries on disk, and the bytes of the record for its checksum.
  @inlinable
  public func withBytes<Result, Failure: Error>(
    forKey key: Key, _ body: (RawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    let hashed = table.hashed(key)
    if let secondTier {
      // A batch stages its records one after another inside its critical section. A read of the tier alone would see
      // only some of them.
      table.waitForBatch(of: hashed)
      var outcome: Swift.Result<Result, Failure>?
      var isOlder = false
      var shown: RecordMetadata?
      secondTier.view(key) { metadata, bytes in
        guard metadata.schemaVersion == writes.schemaVersion else {
          isOlder = metadata.schemaVersion < writes.schemaVersion
          return
        }
        guard !metadata.isNegative, !writes.lifetimes.isExpired(metadata) else { return }
        if metadata.idle != 0 { shown = metadata }
        do throws(Failure) { outcome = .success(try body(bytes)) } catch { outcome = .failure(error) }
      }
      if let outcome {
        table.count(hashed.hash) { $0.diskHits += 1 }
        if let shown { records.noteUse(ofRecord: shown, of: hashed) }
        return try outcome.get()
      }
      if isOlder {
        guard let bytes = records.migratedBytes(hashed) else { return nil }
        return try body(bytes.rawSpan)
      }
    }
    guard let bytes = records.encodedInMemory(hashed) else {
      table.countMiss()
      return nil
    }
    table.count(hashed.hash) { $0.memoryHits += 1 }
    records.noteUse(of: hashed)
    return try body(bytes.rawSpan)
  }

  /// Calls `body` with a part of the encoded value of a key, as ``withBytes(forKey:_:)`` does with all of it.
  ///
  /// For example, it answers a request for a range of a large value without a copy of the value. A range that is partly
  /// outside of the value is clamped to it. A range that is wholly outside, and every range of an empty value, gives no
  /// bytes. Call ``withBytes(forKey:_:)`` if you also need the size of the value.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - range: The offsets of the bytes in the encoded value.
  ///   - body: The closure that receives the bytes.
  /// - Returns: The result of `body`, or nil as ``withBytes(forKey:_:)``.
  /// - Throws: The error of `body`.
  /// - Complexity: O(log *n* + *m*) for *n* entries on disk and *m* bytes of the value. The checksum covers the whole
  ///   record.
  @inlinable
  public func withBytes<Result, Failure: Error>(
    forKey key: Key, in range: Range<Int>, _ body: (RawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    try withBytes(forKey: key) { (bytes) throws(Failure) in
      try body(bytes.extracting(range.clamped(to: 0..<bytes.byteCount)))
    }
  }
}
