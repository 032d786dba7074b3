import Synchronization

/// A flight that knows its entry, and removes the entry when it is abandoned.
@usableFromInline
final class EntryFlight<Key: Hashable & Sendable, Value: Sendable>: Flight<Value>, @unchecked Sendable {
  // Sendable holds: the properties that this class adds are constant and Sendable.
  // Not as one value: its destruction would look up the type at run time.
  @usableFromInline let key: Key
  @usableFromInline let hash: UInt64
  @usableFromInline let table: EntryTable<Key, Value>

  @inlinable
  @inline(__always)
  init(
    for key: HashedKey<Key>, in table: EntryTable<Key, Value>, work: FlightWork?, priority: TaskPriority,
    flightOptions: EntryTable<Key, Value>.FlightOptions
  ) {
    self.key = key.key
    hash = key.hash
    self.table = table
    let abandonment: Abandonment =
      if flightOptions.completesAbandonedFlights { .never } else if work == nil { .atOnce } else { .withWork }
    super.init(
      work: work, priority: priority, invalidationVersion: table.newestInvalidation.load(ordering: .acquiring),
      counts: table.waiterCounts, kind: Kind(abandonment, coversSecondTier: !flightOptions.hasSecondTier))
  }

  @inlinable
  override func abandon() {
    table.end(self, of: HashedKey(key, hash: hash))
  }
}
