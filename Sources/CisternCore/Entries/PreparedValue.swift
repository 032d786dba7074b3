/// A value that is ready to be written into an entry, with its cost and its deadlines.
@usableFromInline
struct PreparedValue<Value: Sendable>: Sendable {
  @usableFromInline let value: Value
  @usableFromInline let cost: UInt32
  @usableFromInline let timing: Timing

  @inlinable
  init(value: Value, cost: UInt32, timing: Timing) {
    self.value = value
    self.cost = cost
    self.timing = timing
  }

  /// Returns whether the value is within its lifetime.
  @inlinable
  func isFresh(at now: MonotonicTime) -> Bool { timing.freshness(at: now).isFresh }
}
