/// A flight that knows its entry, and removes the entry when the last waiter leaves.
@usableFromInline
final class EntryFlight<Key: Hashable & Sendable, Value: Sendable>: Flight<Value>, @unchecked Sendable {
  // Sendable holds: the properties that this class adds are constant and Sendable.
  @usableFromInline let key: Key
  @usableFromInline let hash: UInt64
  @usableFromInline let table: EntryTable<Key, Value>

  @inlinable
  init(
    forKey key: Key, hash: UInt64, in table: EntryTable<Key, Value>, work: FlightWork?, priority: TaskPriority,
    era: UInt64, pilot: EntryTable<Key, Value>.Pilot
  ) {
    self.key = key
    self.hash = hash
    self.table = table
    super.init(
      work: work, priority: priority, era: era, counts: table.waiterCounts,
      isAbandonable: !pilot.completesAbandonedFlights, coversSecondTier: !pilot.hasSecondTier)
  }

  @inlinable
  override func abandon() {
    table.end(self, forKey: key, hash: hash)
  }
}
