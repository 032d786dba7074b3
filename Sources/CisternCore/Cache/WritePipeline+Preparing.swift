import Synchronization

// The first step of a write, outside all locks: the value is weighed and encoded, and gets its lifetime and its tags.

extension WritePipeline {
  /// Weighs and encodes a value. Runs the user's weigher and codec.
  @inlinable
  func encode(_ value: Value, for key: HashedKey<Key>, _ writeOptions: WriteOptions) -> EncodedValue<Value> {
    encode(value, for: key, expiry: writeOptions.expiry, tags: writeOptions.namedTags)
  }

  /// Weighs and encodes a value like ``encode(_:for:_:)``, for a write without kept tags.
  ///
  /// The options are separate parameters, which are not copied.
  ///
  /// - Returns: The value with its bytes and its cost.
  @inlinable
  func encode(
    _ value: Value, for key: HashedKey<Key>, expiry given: Expiry?, tags named: [String]
  ) -> EncodedValue<Value> {
    let keyBytes = secondTier?.bytes(key.key)
    guard let lifetime = lifetime(of: value, for: key, expiry: given, tags: named) else {
      return EncodedValue(preparedValue: nil, tierWrite: keyBytes.map { .removal(key: $0) }, encodingError: nil)
    }
    let encoded = bytes(of: value, for: key)
    if let error = encoded.error, weigher == nil {
      // Its size is not known, and the limits could not count it.
      return EncodedValue(preparedValue: nil, tierWrite: keyBytes.map { .removal(key: $0) }, encodingError: error)
    }
    let cost = cost(of: value, encodedSize: encoded.size)
    let tierWrite: StagedWrite? = keyBytes.map { keyBytes in
      guard let bytes = encoded.bytes else { return .removal(key: keyBytes) }
      return record(of: value, key: keyBytes, bytes: bytes, cost: cost, lifetime)
    }
    return EncodedValue(
      preparedValue: PreparedValue(value: value, cost: cost, timing: lifetime.timing), tierWrite: tierWrite,
      encodingError: encoded.error)
  }

  /// Prepares a value like ``encode(_:for:expiry:tags:)``, with the bytes and the cost of the record that was read.
  func encode(
    _ value: Value, keeping record: StoredRecord, of key: HashedKey<Key>, expiry given: Expiry?, tags named: [String]
  ) -> EncodedValue<Value> {
    let keyBytes = secondTier?.bytes(key.key)
    guard let lifetime = lifetime(of: value, for: key, expiry: given, tags: named) else {
      return EncodedValue(preparedValue: nil, tierWrite: keyBytes.map { .removal(key: $0) }, encodingError: nil)
    }
    let cost = max(1, record.metadata.cost)
    let tierWrite = keyBytes.map { self.record(of: value, key: $0, bytes: record.bytes, cost: cost, lifetime) }
    return EncodedValue(
      preparedValue: PreparedValue(value: value, cost: cost, timing: lifetime.timing), tierWrite: tierWrite,
      encodingError: nil)
  }

  /// The lifetime of a value that is written now.
  @usableFromInline
  struct Lifetime {
    @usableFromInline let expiry: Expiry
    @usableFromInline let timing: Timing
    @usableFromInline let tags: [String]

    @inlinable
    init(expiry: Expiry, timing: Timing, tags: [String]) {
      self.expiry = expiry
      self.timing = timing
      self.tags = tags
    }
  }

  /// Returns the lifetime of a value that is written now; nil if it has ended before the write.
  @inlinable
  @inline(__always)
  func lifetime(
    of value: Value, for key: HashedKey<Key>, expiry given: Expiry?, tags named: [String]
  ) -> Lifetime? {
    var expiry = given ?? lifetimes.expiryOfValue?(value) ?? lifetimes.expiry
    guard !expiry.refusesWrite else { return nil }
    var timing = Timing.plain(until: .distantFuture)
    let tags = allTags(of: value, and: named)
    if !expiry.isNever || !tags.isEmpty || lifetimes.measuresAge {
      expiry = expiry.resolved(forHash: key.hash)
      timing = expiry.timing(from: lifetimes.clockTime(), tags: tags, measuresAge: lifetimes.measuresAge)
      if !expiry.isNever { lifetimes.noteDeadline() }
      if expiry.idle != 0 { lifetimes.noteIdleTime() }
    }
    return Lifetime(expiry: expiry, timing: timing, tags: tags)
  }

  /// Returns the record of a value.
  @inlinable
  func record(
    of value: Value, key keyBytes: [UInt8], bytes: [UInt8], cost: UInt32, _ lifetime: Lifetime
  ) -> StagedWrite {
    var metadata = lifetime.expiry.metadata(created: lifetimes.wallTimeOfWrite(), cost: cost, tags: lifetime.tags)
    metadata.schemaVersion = schemaVersion
    metadata.isNegative = codec?.isAbsent(value) ?? false
    // Provisional. A set usually has the same version inside its critical section, and the record is not copied there.
    if let partition = secondTier?.partition { metadata.localVersion = partition.invalidationVersion }
    metadata.isSet = true
    return .record(key: keyBytes, metadata, bytes: bytes)
  }

  /// Returns the tags of a write and those that the value itself has.
  ///
  /// The empty tag is no tag. A tag that the write names and that the value itself has is stored twice. A later value
  /// without the tag then still keeps the named one (``KeptTags``).
  ///
  /// - Returns: The tags.
  @inlinable
  @inline(__always)
  func allTags(of value: Value, and tags: [String]) -> [String] {
    // Most writes have no tags. An empty literal takes no reference of the given array.
    if tags.isEmpty, tagsOfValue == nil { return [] }
    return combinedTags(of: value, and: tags)
  }

  @usableFromInline
  func combinedTags(of value: Value, and tags: [String]) -> [String] {
    tags.withoutRepetitions + (tagsOfValue?(value).withoutRepetitions ?? [])
  }

  /// Returns the size of a value, and its bytes if a tier needs them or the size is not known otherwise.
  @inlinable
  @inline(__always)
  func bytes(of value: Value, for key: HashedKey<Key>) -> (bytes: [UInt8]?, size: Int, error: (any Error)?) {
    if secondTier == nil, weigher != nil { return (nil, 1, nil) }
    if codec == nil { return (nil, 1, nil) }
    return bytesByCodec(of: value, for: key)
  }

  @usableFromInline
  func bytesByCodec(of value: Value, for key: HashedKey<Key>) -> (bytes: [UInt8]?, size: Int, error: (any Error)?) {
    guard let codec else { return (nil, 1, nil) }
    if secondTier == nil, let size = codec.encodedSize(value) { return (nil, size, nil) }
    do {
      let bytes = try codec.encode(value)
      return (bytes, bytes.count, nil)
    } catch {
      table.count(key.hash) { $0.notEncodable += 1 }
      reports.send(
        StoreReport(
          .notEncodable, "a value \(encodingFailure)",
          location: reports.location(of: key.key), cause: error))
      return (nil, 1, error)
    }
  }

  /// The effect of a value that cannot be encoded, for a message about it.
  var encodingFailure: String {
    weigher == nil
      ? "could not be encoded; its size is not known, and it is not stored"
      : "could not be encoded; it is in memory only"
  }

  /// Returns the cost of a value in memory, by the weigher or from its size. The cost is at least 1.
  @inlinable
  func cost(of value: Value, encodedSize: Int) -> UInt32 {
    UInt32(clamping: max(1, weigher?(value) ?? encodedSize))
  }
}
