/// The value that a write replaces, if it is known.
@usableFromInline
struct FormerValue<Key: Hashable & Sendable, Value: Sendable> {
  /// The value in memory; nil for none.
  @usableFromInline let cached: CachedValue<Value>?
  /// The unconfirmed edits of the key; nil for none. They show its value.
  @usableFromInline let edited: EditedKeys<Key, Value>.Edited?

  @inlinable
  init(cached: CachedValue<Value>?, edited: EditedKeys<Key, Value>.Edited? = nil) {
    self.cached = cached
    self.edited = edited
  }

  /// The tags of the value; nil if they are not known. Memory may have evicted a value that edits show.
  @usableFromInline var tags: [String]? { cached?.timing.tags ?? edited?.timing.tags }

  /// Returns the value that observers saw before an event of the write.
  @usableFromInline
  func previous(of event: WriteEvent) -> PreviousValue<Value> {
    if event == .inserted { return .none }
    if let edited { return edited.shown.map { .value($0) } ?? .unknown }
    return cached.map { .value($0.value) } ?? .unknown
  }
}
