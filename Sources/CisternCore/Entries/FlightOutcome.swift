/// The outcome of a flight for one of its waiters.
@usableFromInline
enum FlightOutcome<Value: Sendable>: Sendable {
  /// The flight brought this value.
  case value(Value)
  /// The flight announced this value, and continues. It is not stored yet.
  case early(Value)
  /// The origin has no value of the key.
  case absent
  /// The flight failed, or the waiter was cancelled.
  case failed(any Error)
  /// The flight brought nothing that this waiter may have. It must look again.
  case lookAgain
  /// The wait exceeded its limit. With the older value to return, or nil if none is usable.
  case timedOut(stale: Fallback<Value>?)
}

extension FlightOutcome {
  /// Returns the value, for a waiter that waits without limits for a flight that always completes with a value or an
  /// error.
  @inlinable
  func get() throws -> Value {
    switch self {
    case .value(let value): return value
    case .failed(let error): throw error
    case .early, .absent, .lookAgain, .timedOut: preconditionFailure("a flight without a cache completes")
    }
  }
}
