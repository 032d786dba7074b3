/// The options of the save of one layer.
struct DraftSavingTerms<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  let policy: DraftConflictPolicy<Key, Value>
  let context: WriterContext?
}
