extension Cache {
  /// Tells observers that a key's value had expired, if nobody has noticed so far: what is written now does not replace
  /// it, and what is removed now was not there. To be called before a write; costs a load of a number where nobody
  /// observes.
  @inlinable
  func noticeExpiry(ofKey key: Key, hash: UInt64) {
    if observers.isObserved { endUnnoticed(key, hash: hash) }
  }

  @usableFromInline
  @inline(never)
  func endUnnoticed(_ key: Key, hash: UInt64) {
    if let held = table.peek(key, hash: hash) {
      if held.isGone(at: now()) { endExpired(key, hash: hash) }
      return
    }
    guard let secondTier, case nil = shownByEdits(key),
      case .absent(let stamp, let era) = table.lookUp(key, hash: hash, at: now())
    else { return }
    var gone: RecordIdentity?
    secondTier.view(key) { metadata, bytes in
      if metadata.schemaVersion <= schemaVersion, isGoneBehindMemory(metadata) {
        gone = RecordIdentity(metadata, bytes: bytes)
      }
    }
    if let gone {
      discard(.worthless(.expired, gone), forKey: key, hash: hash, if: .untouched(stamp: stamp, era: era))
    }
  }

  private func isGoneBehindMemory(_ metadata: RecordMetadata) -> Bool {
    if case nil = timing(of: metadata) { true } else { false }
  }
}
