/// A waiter of a flight, with limits.
@usableFromInline
struct Wait<Value: Sendable>: Sendable {
  let flight: Flight<Value>
  let waiter: Int
  let source: Loaded<Value>.Source
  let waitLimits: WaitLimits<Value>

  /// Whether the look-up of the load counted a miss. The look-up of a load that joined a flight counted a join alone.
  var countedMiss: Bool { if case .fetched = source { true } else { false } }

  @usableFromInline
  init(flight: Flight<Value>, waiter: Int, source: Loaded<Value>.Source, waitLimits: WaitLimits<Value>) {
    self.flight = flight
    self.waiter = waiter
    self.source = source
    self.waitLimits = waitLimits
  }
}
