// Records whose values a codec decodes without a copy of their bytes (`InPlaceCodec`).

/// The outcome of a read that decodes in place. The large payloads are indirect, because most misses and hits have
/// none.
@usableFromInline
enum InPlaceReading<Value: Sendable> {
  /// The second tier has no record of the key.
  case noRecord
  case decoded(PreparedValue<Value>)
  indirect case undecodable(RecordIdentity, any Error)
  /// The record is interpreted after the read.
  indirect case copied(StoredRecord)
}

extension SecondTierReader {
  /// Reads the record of a key, and decodes it. The caller must not hold a lock.
  ///
  /// - Returns: The interpretation of the record; nil if the second tier has no record.
  @inlinable
  @inline(__always)
  func interpretedRecord(of key: HashedKey<Key>, in secondTier: SecondTierBinding<Key>) -> RecordInterpretation<Value>?
  {
    if secondTier.absences != nil { return comparedRecord(of: key, in: secondTier) }
    return uncomparedRecord(of: key, in: secondTier)
  }

  /// Reads a record as ``interpretedRecord(of:in:)`` does. Notes what a custom tier has answered before.
  @inlinable
  @inline(never)
  func comparedRecord(of key: HashedKey<Key>, in secondTier: SecondTierBinding<Key>) -> RecordInterpretation<Value>? {
    let read = secondTier.absences?.beginRead(of: secondTier.bytes(key.key))
    let interpretation = uncomparedRecord(of: key, in: secondTier)
    guard case .usable(var found)? = interpretation else { return interpretation }
    found.read = read
    return .usable(found)
  }

  @inlinable
  @inline(__always)
  func uncomparedRecord(of key: HashedKey<Key>, in secondTier: SecondTierBinding<Key>) -> RecordInterpretation<Value>? {
    if let decode = codec?.decodeInPlace { return interpretInPlace(key, in: secondTier, decode) }
    guard let record = secondTier.read(key.key) else { return nil }
    return interpret(record, of: key)
  }

  /// Decodes the record of a key during the read.
  ///
  /// Some records are copied and interpreted after the read, because their bytes are needed later, or they hold no
  /// value of this version. User code other than the codec must not run in the transaction.
  ///
  /// - Returns: The interpretation of the record; nil if the second tier has no record.
  @inlinable
  func interpretInPlace(
    _ key: HashedKey<Key>, in secondTier: SecondTierBinding<Key>, _ decode: (RawSpan) throws -> Value
  ) -> RecordInterpretation<Value>? {
    var reading = InPlaceReading<Value>.noRecord
    secondTier.view(key.key) { metadata, bytes in
      guard metadata.schemaVersion == schemaVersion, !metadata.isNegative, metadata.idle == 0,
        let timing = lifetimes.timing(of: metadata, pausedFor: key)
      else {
        reading = .copied(StoredRecord(metadata: metadata, bytes: bytes.copiedBytes()))
        return
      }
      do {
        reading = .decoded(PreparedValue(value: try decode(bytes), cost: max(1, metadata.cost), timing: timing))
      } catch {
        reading = .undecodable(RecordIdentity(metadata, bytes: bytes), error)
      }
    }
    switch reading {
    case .noRecord: return nil
    case .decoded(let preparedValue): return .usable(DecodedRecord(preparedValue, rewriting: nil))
    case .undecodable(let record, let error): return undecodable(record, of: key, error)
    case .copied(let record): return interpret(record, of: key)
    }
  }

  /// Reports a record that cannot be decoded, unless another process wrote it with another codec.
  @usableFromInline
  func undecodable(_ record: RecordIdentity, of key: HashedKey<Key>, _ error: any Error) -> RecordInterpretation<Value>
  {
    if let secondTier, secondTier.partition.namesOtherCodec(forVersion: schemaVersion) { return .foreign }
    reports.send(
      StoreReport(
        .notDecodable, "a record could not be decoded and was removed; the next load fetches it again",
        location: reports.location(of: key.key), cause: error))
    return .unusable(.undecodable, record)
  }
}
