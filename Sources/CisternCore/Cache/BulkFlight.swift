/// A key that a bulk load fetches, with its flight.
@usableFromInline
struct BulkFlight<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  @usableFromInline let key: HashedKey<Key>
  @usableFromInline let flight: Flight<Value>

  @inlinable
  init(key: HashedKey<Key>, flight: Flight<Value>) {
    self.key = key
    self.flight = flight
  }
}
