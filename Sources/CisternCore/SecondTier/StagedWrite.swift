/// A write of one key that is staged in a second tier.
public indirect enum StagedWrite: Sendable {
  // Indirect, because the payload of a record is large and every write passes it through many calls. Without
  // indirection, writes of a cache without a second tier would also carry its space.

  /// A new record of the key.
  case record(key: [UInt8], RecordMetadata, bytes: [UInt8])
  /// The removal of the key.
  case removal(key: [UInt8])

  /// Returns the same write with an invalidation version. A removal has no version, and is returned unchanged.
  ///
  /// - Parameters:
  ///   - invalidationVersion: The invalidation version of the value.
  ///   - isSet: Whether the value was set rather than fetched.
  /// - Returns: The write.
  @usableFromInline
  func withVersion(invalidationVersion: InvalidationVersion, isSet: Bool) -> StagedWrite {
    if hasVersion(invalidationVersion, isSet: isSet) { return self }
    guard case .record(let key, var metadata, let bytes) = self else { return self }
    metadata.localVersion = invalidationVersion
    metadata.isSet = isSet
    return .record(key: key, metadata, bytes: bytes)
  }

  // Not a part of `withVersion`: most records already have the version, and are not copied.
  private func hasVersion(_ version: InvalidationVersion, isSet: Bool) -> Bool {
    guard case .record(_, let metadata, _) = self else { return true }
    return metadata.localVersion == version && metadata.isSet == isSet
  }

  /// The bytes of the key.
  public var key: [UInt8] {
    switch self {
    case .record(let key, _, _), .removal(let key): key
    }
  }
}
