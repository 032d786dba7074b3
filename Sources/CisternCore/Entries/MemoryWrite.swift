/// A write of one entry: the value that memory is to hold, and the condition.
@usableFromInline
struct MemoryWrite<Value: Sendable> {
  /// The value; nil if memory is to hold none.
  @usableFromInline var preparedValue: PreparedValue<Value>?
  @usableFromInline let condition: WriteCondition<Value>
  /// Whether memory holds the value if it has room, without the policy's consent: a waiter must find it there.
  @usableFromInline var isNeeded = false
  /// The read that brought the value. Counted whether or not the condition holds.
  @usableFromInline var hit = RecordHit.uncounted

  @inlinable
  init(
    _ preparedValue: PreparedValue<Value>?, if condition: WriteCondition<Value>, isNeeded: Bool = false,
    hit: RecordHit = .uncounted
  ) {
    self.preparedValue = preparedValue
    self.condition = condition
    self.isNeeded = isNeeded
    self.hit = hit
  }
}
