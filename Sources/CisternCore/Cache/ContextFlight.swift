import Synchronization

/// A flight whose fetch receives a context: the storage behind ``FetchContext``.
@usableFromInline
final class ContextFlight<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  // Neither the hashed key nor the stored value is one value here: their destruction would look up types at run time.
  @usableFromInline let key: Key
  @usableFromInline let hash: UInt64
  /// The value that the cache held when the flight began.
  @usableFromInline let stored: ReadValue<Value>?
  @usableFromInline let flight: Flight<Value>
  @usableFromInline let conditionalWriter: ConditionalWriter<Key, Value>
  /// Whether the fetch has ended. The flight may still be in progress, and a task of the fetch may have the context.
  @usableFromInline let fetchHasEnded = Atomic<Bool>(false)

  @inlinable
  init(
    _ flight: Flight<Value>, of key: HashedKey<Key>, stored: ReadValue<Value>?,
    conditionalWriter: ConditionalWriter<Key, Value>
  ) {
    self.flight = flight
    self.key = key.key
    hash = key.hash
    self.stored = stored
    self.conditionalWriter = conditionalWriter
  }

  private var hashedKey: HashedKey<Key> { HashedKey(key, hash: hash) }

  /// Whether the result of the fetch could be stored now.
  var isStorable: Bool {
    !flight.isAbandoned && conditionalWriter.table.canPublish(flight, of: hashedKey, tags: stored?.timing.tags ?? [])
  }

  /// Notes that the fetch has returned or thrown, after all its attempts.
  @inlinable
  func noteEndOfFetch() { fetchHasEnded.store(true, ordering: .releasing) }

  /// Gives a value to all waiters. Returns false if the fetch has ended, or if the flight takes no announcement.
  func announce(_ value: Value) -> Bool {
    guard !fetchHasEnded.load(ordering: .acquiring) else { return false }
    guard let shown = conditionalWriter.shownValue(of: value, for: hashedKey) else { return false }
    return flight.announce(shown)
  }
}
