/// What a write puts in the place of an entry.
@usableFromInline
struct Arrival<Value: Sendable>: Sendable {
  @usableFromInline let value: Value
  @usableFromInline let cost: UInt32
  @usableFromInline let timing: Timing

  @inlinable
  init(value: Value, cost: UInt32, timing: Timing) {
    self.value = value
    self.cost = cost
    self.timing = timing
  }

  /// Whether it is past its lifetime.
  @inlinable
  func isStale(at now: MonotonicTime) -> Bool {
    if case .stale = timing.freshness(at: now) { true } else { false }
  }
}
