/// The effects of an invalidation on other state than the entries.
@usableFromInline
struct InvalidationEffects<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  /// The keys whose unconfirmed edits ended.
  @usableFromInline let endedEdits: [HashedKey<Key>]
  /// The loss of all records, if the second tier removes them in place of those that the invalidation concerns.
  @usableFromInline var loss: LossOfAll<Key, Value>?

  @inlinable
  init(endedEdits: [HashedKey<Key>]) {
    self.endedEdits = endedEdits
  }
}
