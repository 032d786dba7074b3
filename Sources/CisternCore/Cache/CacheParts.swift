/// The parts of a cache that its collaborators share.
struct CacheParts<Key: Hashable & Sendable, Value: Sendable> {
  let table: EntryTable<Key, Value>
  let secondTier: SecondTierBinding<Key>?
  let observers: ObserverRegistry<Key, Value>
  let events: EventRegistry<Key>
  let edits: EditedKeys<Key, Value>
  let lifetimes: Lifetimes<Key, Value>
  let reports: CacheReports
  let codec: ValueCodec<Value>?
}
