/// The state of a key when its fetch begins, for the closure that fetches.
///
/// A load with a context is ``Cache/load(_:policy:fetch:)``. The context is valid during the fetch. Later, it announces
/// nothing.
public struct FetchContext<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  @usableFromInline let flight: ContextFlight<Key, Value>
  /// The number of this call of the closure, from 1. A ``RetryPolicy`` calls it again after a failure.
  public let attempt: Int

  @inlinable
  init(_ flight: ContextFlight<Key, Value>, attempt: Int) {
    self.flight = flight
    self.attempt = attempt
  }

  /// The key.
  @inlinable
  public var key: Key { flight.key }

  /// The value that the cache held when the flight began, fresh or stale; nil for none.
  ///
  /// It was read after the flight took the key's entry. The outcome ``FetchOutcome/keepStored(expiry:tags:)`` therefore
  /// never brings back a value that was replaced, removed or invalidated in between. If the key has unconfirmed edits,
  /// it is the confirmed value.
  @inlinable
  public var stored: StoredValue<Value>? { flight.stored?.described }

  /// Whether the result of the fetch could be stored now.
  ///
  /// False after the key was set, removed or invalidated. Also false after all callers of the fetch left, unless
  /// ``CacheConfiguration/completesAbandonedFlights`` is set. It can become false at any time, and never becomes true
  /// again.
  public var isStorable: Bool { flight.isStorable }

  /// Gives a value to all callers that wait, and to those that join later. The fetch continues, and its outcome is
  /// stored.
  ///
  /// After an announcement, callers that leave do not cancel the fetch. An announced value is not stored and has no
  /// expiry. For example, announce the head of a streamed response, and return the complete response as the outcome.
  ///
  /// If the cache merges, callers get the value merged with the cached one. If the key has unconfirmed edits, callers
  /// get the value that the edits show. A load that begins after an invalidation waits for the outcome. A load that
  /// begins while unconfirmed edits remove the key does not join a flight that announced a value before.
  ///
  /// - Parameter value: The value.
  /// - Returns: Whether the value was announced. False for a second announcement, after the end of the fetch, if the
  ///   value cannot be merged, and if unconfirmed edits remove the key. Also false after the last caller of the fetch
  ///   left, unless ``CacheConfiguration/completesAbandonedFlights`` is set.
  @discardableResult
  public func announce(_ value: Value) -> Bool { flight.announce(value) }
}
