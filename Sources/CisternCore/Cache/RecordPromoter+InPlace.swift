// Records whose values a codec decodes without a copy of their bytes (`InPlaceCodec`).

extension RecordPromoter {
  /// Reads the record of a key, and decodes it; nil if the second tier has no record. The caller must not hold a lock.
  @inlinable
  @inline(__always)
  func interpretedRecord(of key: HashedKey<Key>, in secondTier: SecondTierBinding<Key>) -> Interpretation<Value>? {
    if let decode = codec?.decodeInPlace { return interpretInPlace(key, in: secondTier, decode) }
    guard let record = secondTier.read(key.key) else { return nil }
    return interpret(record, of: key)
  }

  /// Decodes the record of a key during the read.
  ///
  /// Some records are copied, and interpreted after the read: their bytes are needed later, or they hold no value of this
  /// version. User code other than the codec must not run in the transaction.
  @inlinable
  func interpretInPlace(
    _ key: HashedKey<Key>, in secondTier: SecondTierBinding<Key>, _ decode: (RawSpan) throws -> Value
  ) -> Interpretation<Value>? {
    var copied: StoredRecord?
    var found: FoundRecord<Value>?
    var failure: (error: any Error, record: RecordIdentity)?
    secondTier.view(key.key) { metadata, bytes in
      guard metadata.schemaVersion == schemaVersion, !metadata.isNegative, metadata.idle == 0,
        let timing = lifetimes.timing(of: metadata, pausedFor: key.hash)
      else {
        copied = StoredRecord(metadata: metadata, bytes: bytes.copiedBytes())
        return
      }
      do {
        let prepared = PreparedValue(value: try decode(bytes), cost: max(1, metadata.cost), timing: timing)
        found = FoundRecord(prepared, rewriting: nil)
      } catch {
        failure = (error, RecordIdentity(metadata, bytes: bytes))
      }
    }
    if let found { return .usable(found) }
    if let failure { return undecodable(failure.record, of: key, failure.error) }
    return copied.map { interpret($0, of: key) }
  }

  /// Reports a record that cannot be decoded.
  @usableFromInline
  func undecodable(_ record: RecordIdentity, of key: HashedKey<Key>, _ error: any Error) -> Interpretation<Value> {
    reports.send(
      StoreReport(
        .notDecodable, "a record could not be decoded and was removed; it is fetched again when it is wanted",
        location: reports.location(of: key.key), cause: error))
    return .unusable(.undecodable, record)
  }
}
