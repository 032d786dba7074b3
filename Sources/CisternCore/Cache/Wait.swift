/// A waiter of a flight, with limits.
@usableFromInline
struct Wait<Value: Sendable>: Sendable {
  let flight: Flight<Value>
  let waiter: Int
  let source: Loaded<Value>.Source
  let waitLimits: WaitLimits<Value>

  @usableFromInline
  init(flight: Flight<Value>, waiter: Int, source: Loaded<Value>.Source, waitLimits: WaitLimits<Value>) {
    self.flight = flight
    self.waiter = waiter
    self.source = source
    self.waitLimits = waitLimits
  }
}
