/// A value that memory keeps during the fetch of a newer one.
@usableFromInline
final class Refreshing<Value: Sendable>: Sendable {
  @usableFromInline let held: CachedValue<Value>
  @usableFromInline let flight: Flight<Value>

  @inlinable
  init(held: CachedValue<Value>, flight: Flight<Value>) {
    self.held = held
    self.flight = flight
  }
}
