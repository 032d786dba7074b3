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

  init(
    _ storage: Cache<Key, Value>.Storage, _ storeParts: Cache<Key, Value>.StoreParts, lifetimes: Lifetimes<Key, Value>,
    observers: ObserverRegistry<Key, Value>, edits: EditedKeys<Key, Value>
  ) {
    table = lifetimes.table
    secondTier = storage.secondTier
    self.observers = observers
    events = EventRegistry(taskExecutor: storeParts.taskExecutor)
    self.edits = edits
    self.lifetimes = lifetimes
    reports = CacheReports(name: storage.name, send: storeParts.report)
    codec = storage.codec
  }
}
