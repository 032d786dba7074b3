// Keys whose records the second tier loses during an enumeration.

extension EntryWalk {
  /// Adds the keys behind the visited ones that memory may hold alone since the enumeration began.
  ///
  /// Called after each chunk is read. The order matters: a key leaves the lost keys after it is in the list of the
  /// token. A record that is missing in the chunk is therefore in one of both.
  ///
  /// A tier without a list of lost keys can lose any record before it reports that. If memory holds its value, memory
  /// has the key now.
  @usableFromInline
  mutating func addLostKeys() {
    let hasLostFile = records.secondTier?.partition.hasLostFile ?? false
    let pending = records.secondTier?.partition.lostKeys ?? []
    let listsLostKeys = records.secondTier?.partition.listsLostKeys ?? true
    let losses = token.losses
    if hasLostFile || !listsLostKeys || losses.lossesOfAll != lossesOfAll {
      lossesOfAll = losses.lossesOfAll
      listedLosses = 0
      candidates = Self.candidates(of: records, prefix: selection.prefix, after: position)
    }
    let keys = pending + losses.keys[min(listedLosses, losses.keys.count)...]
    listedLosses = losses.keys.count
    if keys.isEmpty { return }
    candidates.add(
      Set(keys).compactMap { bytes in Key(keyBytes: bytes.rawSpan).flatMap { candidate(of: $0, bytes) } })
  }

  private func candidate(of key: Key, _ bytes: [UInt8]) -> Candidate? {
    guard bytes.rawSpan.starts(with: selection.prefix) else { return nil }
    let place = Self.position(of: bytes, in: records)
    if let position, place <= position { return nil }
    return Candidate(position: place, bytes: bytes, key: key)
  }
}
