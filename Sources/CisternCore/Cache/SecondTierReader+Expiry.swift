// The end of values by time, as writes and look-ups notice it.

extension SecondTierReader {
  /// Ends the value of an entry whose time is up, unless another thread already has.
  ///
  /// Its record ends too, unless another process has written or used the record since.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - isCounted: Whether the end counts as an expiration.
  @usableFromInline
  func endExpired(_ key: HashedKey<Key>, isCounted: Bool = true) {
    let keyBytes = secondTier?.bytes(key.key)
    var write = PreparedWrite<Key, Value>(
      .expire(isCounted: isCounted), MemoryWrite(nil, if: .expired(at: lifetimes.now())),
      tierWrite: keyBytes.map { .removal(key: $0) },
      keyBytes: keyBytes)
    write.recordCondition = .ended(by: lifetimes.wallNow())
    writes.apply(write, to: key)
  }

  /// Ends the value of an entry whose time is up.
  ///
  /// - Parameter key: The key.
  /// - Returns: The fresh value of a record that another process has written or used since; nil for none.
  @usableFromInline
  @inline(never)
  func valueAfterExpiry(of key: HashedKey<Key>) -> Value? {
    endExpired(key)
    guard secondTier != nil else { return nil }
    let found = table.lookUp(key.key, hash: key.hash, at: lifetimes.now())
    if case .absent(let writeVersion, let invalidationVersion) = found {
      return valueInSecondTier(
        key, if: .untouched(writeVersion: writeVersion, invalidationVersion: invalidationVersion))
    }
    // Another writer may have stored a value since. The look-up counts a hit then.
    return found.hitValue { writeUse($0, of: key) }
  }

  /// Notifies observers that the value of a key has expired, unless they know.
  ///
  /// Call it before a write, because the written value does not replace the expired one. Without observers, the call
  /// costs one load of a number. The end is not counted, because a write without observers does not look for it.
  @inlinable
  func noticeExpiry(of key: HashedKey<Key>) {
    if observers.isObserved { endUnnoticed(key, isCounted: false) }
  }

  /// Ends the value of a key in both tiers, if its time is up. The look is no use of the value.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - isCounted: Whether the end counts as an expiration.
  @usableFromInline
  @inline(never)
  func endUnnoticed(_ key: HashedKey<Key>, isCounted: Bool) {
    if let held = table.peek(key) {
      if held.isGone(at: lifetimes.now()) { endExpired(key, isCounted: isCounted) }
      return
    }
    guard let secondTier, !viewOfEdits(of: key.key).isEdited,
      let writeVersion = table.versionsIfUnheld(key)?.writeVersion,
      let metadata = secondTier.partition.metadata(of: secondTier.bytes(key.key).rawSpan), isEnded(metadata)
    else { return }
    var gone: RecordIdentity?
    secondTier.view(key.key) { metadata, bytes in
      if isEnded(metadata) { gone = RecordIdentity(metadata, bytes: bytes) }
    }
    guard let gone else { return }
    // The writer may be a flight that did not look in the second tier.
    let condition = WriteCondition<Value>.unheld(writeVersion: writeVersion)
    discard(.unusable(.expired, gone), of: key, if: condition, isCounted: isCounted)
  }

  /// Whether the lifetime of a record has ended, and the record is not of a newer version of the schema.
  private func isEnded(_ metadata: RecordMetadata) -> Bool {
    metadata.schemaVersion <= schemaVersion && lifetimes.isGone(metadata)
  }
}
