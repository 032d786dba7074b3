/// The state of a key before a write, and the room for its new value.
@usableFromInline
struct WriteSituation: Sendable, Hashable {
  /// Whether memory has a value of the key.
  @usableFromInline var isInMemory: Bool
  /// Whether memory will hold the value of the write.
  @usableFromInline var willBeInMemory: Bool
  /// Whether the cache has observers.
  @usableFromInline var isObserved: Bool
  /// Whether the key's unconfirmed edits show a value; nil for a key without edits.
  @usableFromInline var shownByEdits: Bool?

  @inlinable
  init(isInMemory: Bool, willBeInMemory: Bool, isObserved: Bool) {
    self.isInMemory = isInMemory
    self.willBeInMemory = willBeInMemory
    self.isObserved = isObserved
  }
}
