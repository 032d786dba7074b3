/// The result of a save in the layer below.
struct SavedDraft<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  let outcome: WriteOutcome
  /// The draft's keys in the layer below after the save.
  let keys: [Key: SavedKey<Value>]
}
