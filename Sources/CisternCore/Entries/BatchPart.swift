/// The write of one key in a batch.
@usableFromInline
struct BatchPart<Key: Hashable & Sendable, Value: Sendable> {
  @usableFromInline let key: HashedKey<Key>
  @usableFromInline var write: EntryWrite<Value>

  @inlinable
  init(key: HashedKey<Key>, write: EntryWrite<Value>) {
    self.key = key
    self.write = write
  }
}
