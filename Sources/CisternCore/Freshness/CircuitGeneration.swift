/// The number of state changes of a circuit breaker. A result counts only if the generation is that of its call.
struct CircuitGeneration: Sendable, Equatable {
  private var number: UInt64 = 0

  /// Counts a state change.
  mutating func raise() { number += 1 }
}
