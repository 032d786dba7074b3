/// A fetched value on its way into the cache.
@usableFromInline
struct FetchedValue<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  @usableFromInline let value: Value
  /// The flight that brought it.
  @usableFromInline let flight: Flight<Value>
  @usableFromInline let key: HashedKey<Key>
  /// The options of the load; nil for the cache's own.
  @usableFromInline let options: LoadOptions?

  @inlinable
  init(_ value: Value, of flight: Flight<Value>, for key: HashedKey<Key>, options: LoadOptions?) {
    self.value = value
    self.flight = flight
    self.key = key
    self.options = options
  }

  @inlinable
  var writeOptions: WriteOptions { options?.writeOptions ?? WriteOptions() }
}
