/// A load that waits with limits. A class, so that it takes one reference in the frame of a waiting task.
@usableFromInline
final class LimitedLoad<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  let request: LoadRequest<Key, Value>
  /// The wait for the load's flight.
  let wait: Wait<Value>

  @usableFromInline
  init(_ request: LoadRequest<Key, Value>, _ wait: Wait<Value>) {
    self.request = request
    self.wait = wait
  }
}
