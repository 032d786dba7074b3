/// The effects of a batch beside its entries, collected inside the critical sections.
@usableFromInline
struct BatchEffects<Key: Hashable & Sendable, Value: Sendable> {
  /// The open batch; nil without a second tier.
  @usableFromInline let batch: BatchToken?
  /// The writer, as given by the caller.
  @usableFromInline let context: WriterContext?
  /// A refusal if the second tier refused a write of the batch, and ``WriteOutcome/nothing`` otherwise.
  @usableFromInline var outcome = WriteOutcome.nothing
  @usableFromInline var replacedEdits: [EditedKeys<Key, Value>.Former] = []

  @inlinable
  init(batch: BatchToken?, context: WriterContext?) {
    self.batch = batch
    self.context = context
  }
}
