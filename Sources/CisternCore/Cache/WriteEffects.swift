/// The effects of a write beside its entry, collected inside the critical section.
@usableFromInline
struct WriteEffects<Key: Hashable & Sendable, Value: Sendable> {
  /// The outcome in the second tier.
  @usableFromInline var outcome = WriteOutcome.nothing
  /// Whether no tier holds the value of the write.
  @usableFromInline var isRefused = false
  /// The edits that the write replaced.
  @usableFromInline var replacedEdits: EditedKeys<Key, Value>.Former?
  /// The batch that the write is a part of; nil for none.
  @usableFromInline let batch: BatchToken?

  @inlinable
  init(batch: BatchToken? = nil) {
    self.batch = batch
  }
}
