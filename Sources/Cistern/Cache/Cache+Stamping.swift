// How a write is ordered among the invalidations of the second tier, which another process can make too.

extension Cache {
  /// The write of a value, stamped with the newest invalidation that the value is newer than: for a fetched value, the newest
  /// when its fetch began; for one that is set, the newest now.
  ///
  /// To be called in the write's critical section: no invalidation of this process comes in between.
  @inlinable
  func stamped(_ write: StagedWrite, broughtBy flight: Flight<Value>?) -> StagedWrite {
    guard let partition = secondTier?.partition else { return write }
    if let flight { return write.stamped(era: flight.tierEra, isSet: false) }
    return write.stamped(era: partition.currentEra, isSet: true)
  }

  /// Notes that the fetch of a flight begins, after the look-up in the second tier.
  @inlinable
  func noteFetch(by flight: Flight<Value>) {
    if let partition = secondTier?.partition { flight.noteFetch(tierEra: partition.currentEra) }
  }
}
