/// A value on its way into the tiers: weighed and encoded, outside all locks.
@usableFromInline
struct Writing<Value: Sendable>: Sendable {
  /// What memory is to hold; nil where the value's lifetime is already over.
  @usableFromInline let arrival: Arrival<Value>?
  /// What the second tier is to hold: the key's record, or its removal. Nil where there is no second tier.
  @usableFromInline let staged: StagedWrite?
  /// Why the value is not to be on disk, if it could not be encoded.
  @usableFromInline let encodingError: (any Error)?

  @inlinable
  init(arrival: Arrival<Value>?, staged: StagedWrite?, encodingError: (any Error)?) {
    self.arrival = arrival
    self.staged = staged
    self.encodingError = encodingError
  }
}

/// How a value is written.
@usableFromInline
struct WriteTerms<Value: Sendable> {
  /// When the write applies.
  @usableFromInline var condition = WriteCondition<Value>.unedited
  /// What it means for those who began something before it.
  @usableFromInline var effect = WriteEffect.replacement
  /// Who writes.
  @usableFromInline var context: WriterContext?
  /// Whether observers are told that there is a value. That one went, they are told in any case.
  @usableFromInline var isAnnounced = true

  @inlinable
  init(
    if condition: WriteCondition<Value> = .unedited, effect: WriteEffect = .replacement, context: WriterContext? = nil,
    isAnnounced: Bool = true
  ) {
    self.condition = condition
    self.effect = effect
    self.context = context
    self.isAnnounced = isAnnounced
  }
}

/// What became of a write in the second tier.
@usableFromInline
enum WriteOutcome: Sendable {
  /// There was nothing to do.
  case nothing
  /// It is staged.
  case staged(CommitTicket)
  /// The tier would not have it, which is so large as it counts.
  case refused(size: Int)
}

/// A write that has been made.
@usableFromInline
struct Written<Value: Sendable>: Sendable {
  /// What the key has now.
  @usableFromInline let value: Value?
  @usableFromInline let outcome: WriteOutcome
  /// Why the value is not to be on disk, if it could not be encoded.
  @usableFromInline let encodingError: (any Error)?

  @inlinable
  init(value: Value?, outcome: WriteOutcome, encodingError: (any Error)? = nil) {
    self.value = value
    self.outcome = outcome
    self.encodingError = encodingError
  }
}
