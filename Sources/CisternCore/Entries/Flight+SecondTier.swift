import Synchronization

// The relation of a flight to the second tier. Storage is in `Flight`.

extension Flight {
  /// Notes the second tier's invalidation version when the fetch begins.
  @inlinable
  final func noteFetch(tierVersion: InvalidationVersion) { tierVersionAtFetch.store(tierVersion, ordering: .relaxed) }

  /// The second tier's invalidation version when the fetch began.
  @inlinable
  final var tierVersion: InvalidationVersion { tierVersionAtFetch.load(ordering: .relaxed) }

  /// Notes that the second tier may have lost the key's record. Called inside the shard's critical section.
  @usableFromInline
  final func noteLostRecord() { lostRecord.store(true, ordering: .relaxed) }

  /// Whether the second tier may have lost the key's record since the flight began. A promotion then asks the tier.
  @inlinable
  final var hasLostRecord: Bool { lostRecord.load(ordering: .relaxed) }

  /// Whether a load can join this flight without a look-up in the second tier.
  @inlinable
  final var coversSecondTier: Bool { secondTierCover.load(ordering: .relaxed) }

  /// Notes that the leader looks in the second tier. Called inside the shard's critical section.
  @inlinable
  final func coverSecondTier() { secondTierCover.store(true, ordering: .relaxed) }

  /// Notes that the second tier has a value and the flight fetches another one. Called inside the shard's critical
  /// section.
  @usableFromInline
  final func leaveSecondTierToNextLoad() { secondTierCover.store(false, ordering: .relaxed) }

  /// Whether an older fetch has changed the key's record since the flight began. A look-up for this flight may have
  /// read the former record.
  @inlinable
  final var hasNewerRecord: Bool { newerRecord.load(ordering: .relaxed) }

  /// Notes that an older fetch changed the key's record. Called inside the shard's critical section.
  @usableFromInline
  final func noteNewerRecord() { newerRecord.store(true, ordering: .relaxed) }

  /// Notes that the flight completes with a value from the second tier.
  @inlinable
  final func noteFromSecondTier() { fromSecondTier.store(true, ordering: .releasing) }

  /// Whether the flight completed with a value from the second tier.
  @inlinable
  final var isFromSecondTier: Bool { fromSecondTier.load(ordering: .acquiring) }

  /// Returns whether a load can use the flight's value. A load that requires a fetched value cannot use one of the
  /// second tier.
  @inlinable
  final func satisfies(_ demand: @autoclosure () -> Demand) -> Bool {
    !isFromSecondTier || demand().acceptsFresh
  }
}
