// The end of values by time, as writes and look-ups notice it.

extension RecordPromoter {
  /// Ends the value of an entry whose time is up, in both tiers, unless another thread already has.
  @usableFromInline
  func endExpired(_ key: HashedKey<Key>) {
    let keyBytes = secondTier?.bytes(key.key)
    writes.apply(
      PreparedWrite(
        .expire, EntryWrite(nil, if: .expired(at: lifetimes.now())), staged: keyBytes.map { .removal(key: $0) },
        keyBytes: keyBytes),
      to: key)
  }

  /// Notifies observers that the value of a key has expired, unless they know. Call it before a write, because the written value
  /// does not replace the expired one. Without observers, the call costs one load of a number.
  @inlinable
  func noticeExpiry(of key: HashedKey<Key>) {
    if observers.isObserved { endUnnoticed(key) }
  }

  @usableFromInline
  @inline(never)
  func endUnnoticed(_ key: HashedKey<Key>) {
    if let held = table.peek(key.key, hash: key.hash) {
      if held.isGone(at: lifetimes.now()) { endExpired(key) }
      return
    }
    guard let secondTier, case nil = shownByEdits(key.key),
      case .absent(let stamp, let era) = table.lookUp(key.key, hash: key.hash, at: lifetimes.now())
    else { return }
    var gone: RecordIdentity?
    secondTier.view(key.key) { metadata, bytes in
      if metadata.schemaVersion <= schemaVersion, lifetimes.isGone(metadata) {
        gone = RecordIdentity(metadata, bytes: bytes)
      }
    }
    if let gone { discard(.unusable(.expired, gone), of: key, if: .untouched(stamp: stamp, era: era)) }
  }
}
