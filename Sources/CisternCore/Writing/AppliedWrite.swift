/// A write that has been applied.
@usableFromInline
struct AppliedWrite<Value: Sendable>: Sendable {
  /// The value of the key after the write.
  @usableFromInline let value: Value?
  @usableFromInline let outcome: WriteOutcome
  /// The reason why the value is not on disk, if it could not be encoded.
  @usableFromInline let encodingError: (any Error)?
  /// The lifetime and the tags of the stored value; nil if none was stored. Not set by a set that depends on no value.
  @usableFromInline let timing: Timing?

  @inlinable
  init(value: Value?, outcome: WriteOutcome, encodingError: (any Error)? = nil, timing: Timing? = nil) {
    self.value = value
    self.outcome = outcome
    self.encodingError = encodingError
    self.timing = timing
  }
}
