/// A value that was read as a fetch began. A class, so that a fetch without such a value copies one empty reference.
@usableFromInline
final class ReadValue<Value: Sendable>: Sendable {
  @usableFromInline let value: Value
  @usableFromInline let timing: Timing
  /// The time of the read.
  @usableFromInline let time: MonotonicTime
  /// The record in the second tier that holds the value, in the current version of the schema; nil for none.
  @usableFromInline let record: RecordIdentity?

  @inlinable
  init(value: Value, timing: Timing, time: MonotonicTime, record: RecordIdentity? = nil) {
    self.value = value
    self.timing = timing
    self.time = time
    self.record = record
  }

  /// The value for the closure that fetches.
  @usableFromInline
  var described: StoredValue<Value> {
    StoredValue(value, isStale: !timing.freshness(at: time).isFresh, ValueDetails(timing, at: time))
  }
}
