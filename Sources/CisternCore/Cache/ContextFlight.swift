/// A flight whose fetch receives a context: the storage behind ``FetchContext``.
final class ContextFlight<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  let key: HashedKey<Key>
  /// The value that the cache held when the flight began.
  let stored: ReadValue<Value>?
  private let flight: Flight<Value>
  private let conditional: ConditionalWriter<Key, Value>

  init(
    _ flight: Flight<Value>, of key: HashedKey<Key>, stored: ReadValue<Value>?,
    conditional: ConditionalWriter<Key, Value>
  ) {
    self.flight = flight
    self.key = key
    self.stored = stored
    self.conditional = conditional
  }

  /// Whether the result of the fetch could be stored now.
  var isStorable: Bool {
    !flight.isAbandoned && conditional.table.canPublish(flight, of: key, tags: stored?.timing.tags ?? [])
  }

  /// Gives a value to all waiters. Returns false if the flight takes no announcement.
  func announce(_ value: Value) -> Bool {
    guard let shown = conditional.shownValue(of: value, for: key) else { return false }
    return flight.announce(shown)
  }
}

/// A value that was read as a fetch began.
struct ReadValue<Value: Sendable>: Sendable {
  let value: Value
  let timing: Timing
  /// The time of the read.
  let time: MonotonicTime
  /// The record in the second tier that holds the value, in the present version of the schema; nil for none.
  var record: RecordIdentity?

  /// The value for the closure that fetches.
  var described: StoredValue<Value> {
    var isStale = false
    if case .stale = timing.freshness(at: time) { isStale = true }
    return StoredValue(value, isStale: isStale, ValueDetails(timing, at: time))
  }
}
