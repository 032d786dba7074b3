/// A record of the second tier, with its decoded value.
@usableFromInline
struct DecodedRecord<Value: Sendable> {
  @usableFromInline let preparedValue: PreparedValue<Value>
  /// The record to write in place of the one that was read; nil for none.
  @usableFromInline let rewriting: RecordRewrite?
  /// The read of a custom tier; nil for another tier.
  @usableFromInline var read: ComparedRead?

  @inlinable
  init(_ preparedValue: PreparedValue<Value>, rewriting: RecordRewrite?) {
    self.preparedValue = preparedValue
    self.rewriting = rewriting
  }

  @inlinable
  var value: Value { preparedValue.value }

  @inlinable
  var timing: Timing { preparedValue.timing }
}
