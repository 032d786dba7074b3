import Synchronization

// What a write does first, outside all locks: the value is weighed and encoded, and its lifetime and tags are found.

extension Cache {
  /// Weighs and encodes. Runs the weigher and the codec: outside all locks.
  @inlinable
  func prepare(_ value: Value, forKey key: Key, storing: Storing) -> Writing<Value> {
    let keyBytes = secondTier?.bytes(key)
    var expiry = storing.expiry ?? expiryOfValue?(value) ?? self.expiry
    guard !expiry.refusesWrite else {
      return Writing(arrival: nil, staged: keyBytes.map { .removal(key: $0) }, encodingError: nil)
    }
    var timing = Timing.plain(until: .distantFuture)
    let tags = allTags(of: value, and: storing.namedTags)
    if !expiry.isNever || !tags.isEmpty {
      expiry = expiry.resolved(forHash: table.hash(key))
      timing = expiry.timing(from: clock.now(), tags: tags)
      if !expiry.isNever { hasDeadlines.store(true, ordering: .relaxed) }
      if expiry.idle != 0 { hasIdleTimes.store(true, ordering: .relaxed) }
    }
    let encoded = encode(value, forKey: key)
    if let error = encoded.error, case nil = weigher {
      // Its size is not known: the limits could not count it.
      return Writing(arrival: nil, staged: keyBytes.map { .removal(key: $0) }, encodingError: error)
    }
    let cost = cost(of: value, encodedSize: encoded.size)
    let staged: StagedWrite? = keyBytes.map { keyBytes in
      guard let bytes = encoded.bytes else { return .removal(key: keyBytes) }
      let created = wallNow()
      var metadata = expiry.metadata(created: created, cost: cost, tags: tags)
      metadata.schemaVersion = schemaVersion
      metadata.isNegative = codec?.isAbsent(value) ?? false
      return .record(key: keyBytes, metadata, bytes: bytes)
    }
    return Writing(
      arrival: Arrival(value: value, cost: cost, timing: timing), staged: staged, encodingError: encoded.error)
  }

  /// The tags of a write and those that the value itself says. The empty one is no tag.
  @inlinable
  @inline(__always)
  func allTags(of value: Value, and tags: [String]) -> [String] {
    // As a rule there are none. Not the ones that were given, which would be counted as referred to once more.
    if tags.isEmpty, case nil = tagsOfValue { return [] }
    return gatheredTags(of: value, and: tags)
  }

  @usableFromInline
  func gatheredTags(of value: Value, and tags: [String]) -> [String] {
    (tags + (tagsOfValue?(value) ?? [])).filter { !$0.isEmpty }
  }

  /// The value's bytes, where there is a tier for them or they are needed to weigh it; and its size.
  @inlinable
  @inline(__always)
  func encode(_ value: Value, forKey key: Key) -> (bytes: [UInt8]?, size: Int, error: (any Error)?) {
    if case nil = secondTier, case .some = weigher { return (nil, 1, nil) }
    if case nil = codec { return (nil, 1, nil) }
    return encodeByCodec(value, forKey: key)
  }

  @usableFromInline
  func encodeByCodec(_ value: Value, forKey key: Key) -> (bytes: [UInt8]?, size: Int, error: (any Error)?) {
    guard let codec else { return (nil, 1, nil) }
    if secondTier == nil, let size = codec.encodedSize(value) { return (nil, size, nil) }
    do {
      let bytes = try codec.encode(value)
      return (bytes, bytes.count, nil)
    } catch {
      table.count(table.hash(key)) { $0.notEncodable += 1 }
      report(
        StoreReport(
          .notEncodable,
          weigher == nil
            ? "a value could not be encoded; its size is not known, and it is not stored"
            : "a value could not be encoded; it is in memory only",
          location: location(of: key), cause: error))
      return (nil, 1, error)
    }
  }

  /// What a value costs in memory: what the weigher says, or else its size; 1 at least.
  @inlinable
  func cost(of value: Value, encodedSize: Int) -> UInt32 {
    UInt32(clamping: max(1, weigher?(value) ?? encodedSize))
  }
}
