/// The write of one key in a batch.
@usableFromInline
struct BatchPart<Key: Hashable & Sendable, Value: Sendable> {
  @usableFromInline let key: HashedKey<Key>
  @usableFromInline var write: MemoryWrite<Value>
  /// The tags of the new stored value, which memory may not hold; nil for a removal.
  @usableFromInline let tags: [String]?

  @inlinable
  init(key: HashedKey<Key>, write: MemoryWrite<Value>, tags: [String]?) {
    self.key = key
    self.write = write
    self.tags = tags
  }
}
