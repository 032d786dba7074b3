/// How a load waits that does not simply wait for its flight. An object for the few loads that need one, so that the frames
/// of all others are small: see ``Flight/wait(as:)``.
@usableFromInline
final class Patience<Value: Sendable>: Sendable {
  let policy: LoadPolicy
  /// When the load began to wait, in this attempt or an earlier one: its timeouts count from then.
  let start: MonotonicTime
  /// The newest invalidation when the load looked. The load must not have what is older.
  let era: UInt64
  /// The older value, where one may be returned.
  let instead: Held<Value>?
  /// Which tier has the older value.
  let source: Loaded<Value>.Source
  /// The fetch that this load is a part of; nil for a load outside all fetches.
  let fetch: FlightWork?

  init(
    policy: LoadPolicy, start: MonotonicTime, era: UInt64, instead: Held<Value>? = nil,
    source: Loaded<Value>.Source = .memory
  ) {
    self.policy = policy
    self.start = start
    self.era = era
    self.instead = instead
    self.source = source
    fetch = FlightWork.current
  }
}

/// A waiter of a flight that waits with patience.
@usableFromInline
struct Wait<Value: Sendable>: Sendable {
  let flight: Flight<Value>
  let waiter: Int
  let source: Loaded<Value>.Source
  let patience: Patience<Value>

  @usableFromInline
  init(flight: Flight<Value>, waiter: Int, source: Loaded<Value>.Source, patience: Patience<Value>) {
    self.flight = flight
    self.waiter = waiter
    self.source = source
    self.patience = patience
  }
}
