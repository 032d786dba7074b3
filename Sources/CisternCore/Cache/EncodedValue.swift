/// A value that is weighed and encoded.
@usableFromInline
struct EncodedValue<Value: Sendable>: Sendable {
  /// The value for memory; nil if its lifetime is zero, or its size is not known.
  @usableFromInline let preparedValue: PreparedValue<Value>?
  /// The key's record for the second tier, or its removal; nil without a second tier.
  @usableFromInline let tierWrite: StagedWrite?
  /// The reason why the value cannot be on disk, if it could not be encoded.
  @usableFromInline let encodingError: (any Error)?

  @inlinable
  init(preparedValue: PreparedValue<Value>?, tierWrite: StagedWrite?, encodingError: (any Error)?) {
    self.preparedValue = preparedValue
    self.tierWrite = tierWrite
    self.encodingError = encodingError
  }

  /// Whether the write removes the key, because the lifetime of the value is zero.
  @inlinable
  var removesKey: Bool { preparedValue == nil && encodingError == nil }
}
